// The function table of a real file: ours, against libbfd's symbols sorted by address. Set
// WHOCALL_BENCH_FILE to choose the file; libbfd is used where its plugin is built. Then a million
// symbols in different orders: none may take more than three times as long as random ones.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
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

// Orders in which a list of symbols may come. The linker's own is none of these: it is as if
// random.
enum Order : std::int64_t { in_random, sorted, reversed, sawtooth, all_equal };

SymbolList million_symbols(Order order) {
  constexpr std::size_t kCount = 1'000'000;
  constexpr std::size_t kTeeth = 1000;
  std::vector<std::size_t> places(kCount);
  std::iota(places.begin(), places.end(), 0);
  if (order == Order::in_random) {
    std::shuffle(places.begin(), places.end(), std::mt19937(1));
  } else if (order == Order::reversed) {
    std::ranges::reverse(places);
  } else if (order == Order::sawtooth) {
    std::ranges::sort(places, {}, [](std::size_t at) { return at % kTeeth * kCount + at; });
  }
  SymbolList symbols;
  for (const std::size_t place : places) {
    const std::string name = "function_number_" + std::to_string(kCount + place);
    Symbol symbol;
    symbol.name = name;
    symbol.range.begin = order == Order::all_equal ? 0x400000 : 0x400000 + 16 * place;
    symbol.range.end = symbol.range.begin + 16;
    symbol.source = NameSource::symtab;
    symbols.add(symbol);
  }
  return symbols;
}

void table_by_order(benchmark::State& state) {
  const SymbolList symbols = million_symbols(static_cast<Order>(state.range(0)));
  for (auto _ : state) {
    state.PauseTiming();
    SymbolList copy = symbols.branch();
    state.ResumeTiming();
    const auto table = SymbolTable::from_symbols(std::move(copy));
    benchmark::DoNotOptimize(table->find(0x400000));
  }
}

BENCHMARK(table_by_order)
    ->ArgName("random, sorted, reversed, sawtooth, all at one start")
    ->DenseRange(Order::in_random, Order::all_equal)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(table_from_elf)->Unit(benchmark::kMillisecond);
BENCHMARK(table_from_bfd)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace whocall
