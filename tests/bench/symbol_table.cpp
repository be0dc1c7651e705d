// The function table of a real file: ours, against libbfd's symbols sorted by address. Set
// WHOCALL_BENCH_FILE to choose the file; libbfd is used where its plugin is built.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bench_files.h"
#include "object/bfd_library.h"
#include "object/elf_file.h"
#include "symbols/table/symbol_table.h"

namespace whocall {
namespace {

void table_from_elf(benchmark::State& state) {
  const std::string path = bench::file();
  std::size_t count = 0;
  for (auto _ : state) {
    const auto table = SymbolTable::from_elf(ElfFile::open(path));
    count = table->symbols().size();
    benchmark::DoNotOptimize(table.get());
  }
  state.counters["functions"] = static_cast<double>(count);
}

void table_from_bfd(benchmark::State& state) {
  BfdLibrary* bfd = BfdLibrary::get();
  if (bfd == nullptr) {
    state.SkipWithError(BfdLibrary::load_failure().c_str());
    return;
  }
  const std::string path = bench::file();
  std::size_t count = 0;
  for (auto _ : state) {
    auto symbols = bfd->open(path)->symbols();
    std::erase_if(symbols, [](const BfdSymbol& symbol) { return !symbol.is_function; });
    std::ranges::sort(symbols, {}, &BfdSymbol::address);
    count = symbols.size();
    benchmark::DoNotOptimize(symbols.data());
  }
  state.counters["functions"] = static_cast<double>(count);
}

BENCHMARK(table_from_elf)->Unit(benchmark::kMillisecond);
BENCHMARK(table_from_bfd)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace whocall
