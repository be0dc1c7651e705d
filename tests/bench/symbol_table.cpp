// The function table of a real file: ours, against libbfd's symbols sorted by address. Set
// WHOCALL_BENCH_FILE to choose the file; libbfd is used where its plugin is built. `MiB` is what
// the first one takes, which the process has not had before: run one benchmark only to know it.
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

struct Ours {
  explicit Ours(const std::string& path) : table(SymbolTable::from_elf(ElfFile::open(path))) {}
  [[nodiscard]] std::size_t count() const { return table->symbols().size(); }
  std::shared_ptr<const SymbolTable> table;
};

struct Theirs {
  explicit Theirs(const std::string& path)
      : file(BfdLibrary::get()->open(path)), symbols(file->symbols()) {
    std::erase_if(symbols, [](const BfdSymbol& symbol) { return !symbol.is_function; });
    std::ranges::sort(symbols, {}, &BfdSymbol::address);
  }
  [[nodiscard]] std::size_t count() const { return symbols.size(); }
  decltype(BfdLibrary::get()->open("")) file;
  std::vector<BfdSymbol> symbols;
};

template <typename Table>
void read(benchmark::State& state) {
  const std::string path = bench::file();
  const double before = bench::own_memory();
  {
    const Table table(path);
    state.counters["functions"] = static_cast<double>(table.count());
    static const double grown = bench::own_memory() - before;
    state.counters["MiB"] = grown;
  }
  for (auto _ : state) {
    const Table table(path);
    benchmark::DoNotOptimize(&table);
  }
}

void table_from_elf(benchmark::State& state) { read<Ours>(state); }

void table_from_bfd(benchmark::State& state) {
  if (BfdLibrary::get() == nullptr) {
    state.SkipWithError(BfdLibrary::load_failure().c_str());
    return;
  }
  read<Theirs>(state);
}

BENCHMARK(table_from_elf)->Unit(benchmark::kMillisecond);
BENCHMARK(table_from_bfd)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace whocall
