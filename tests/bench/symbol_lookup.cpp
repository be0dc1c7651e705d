// Address to function: our table against upper_bound over structs, single and in batches, for
// 10^4, 10^5 and 10^6 functions of uneven sizes. Time is per look-up.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "symbols/table/symbol_table.h"

namespace whocall {
namespace {

constexpr std::size_t kQueries = 65536;

struct Workload {
  std::vector<Symbol> symbols;  // ascending
  std::shared_ptr<const SymbolTable> table;
  std::vector<Address> queries;
};

// Functions as compilers lay them out: 16-byte aligned, most of them small, some large.
const Workload& workload(std::size_t count) {
  static std::vector<std::unique_ptr<Workload>> made;
  for (const auto& one : made) {
    if (one->symbols.size() == count) {
      return *one;
    }
  }
  auto fresh = std::make_unique<Workload>();
  std::mt19937_64 random(count);
  Address at = 0x401000;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t size = 16 + random() % (random() % 16 == 0 ? 8192 : 256);
    Symbol symbol;
    symbol.range = {at, at + size};
    symbol.name = "function";
    symbol.source = NameSource::symtab;
    fresh->symbols.push_back(symbol);
    at = (at + size + 15) & ~Address{15};
  }
  fresh->table = SymbolTable::from_symbols(fresh->symbols);
  for (std::size_t i = 0; i < kQueries; ++i) {
    fresh->queries.push_back(0x401000 + random() % (at - 0x401000));
  }
  made.push_back(std::move(fresh));
  return *made.back();
}

void count_items(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kQueries));
}

void upper_bound_over_structs(benchmark::State& state) {
  const Workload& work = workload(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (const Address query : work.queries) {
      const auto after = std::upper_bound(
          work.symbols.begin(), work.symbols.end(), query,
          [](Address wanted, const Symbol& symbol) { return wanted < symbol.range.begin; });
      const bool covered = after != work.symbols.begin() && (after - 1)->range.contains(query);
      sum += covered ? static_cast<std::uint64_t>(after - work.symbols.begin()) : 0;
    }
    benchmark::DoNotOptimize(sum);
  }
  count_items(state);
}

void table_single(benchmark::State& state) {
  const Workload& work = workload(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (const Address query : work.queries) {
      sum += work.table->find(query);
    }
    benchmark::DoNotOptimize(sum);
  }
  count_items(state);
}

void table_batched(benchmark::State& state) {
  const Workload& work = workload(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint32_t> out(kQueries);
  for (auto _ : state) {
    work.table->find(work.queries, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count_items(state);
}

// Every look-up waits for the one before: the latency, not the throughput.
void table_dependent(benchmark::State& state) {
  const Workload& work = workload(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    std::uint32_t previous = 0;
    for (const Address query : work.queries) {
      previous = work.table->find(query + (previous & 1U));
    }
    benchmark::DoNotOptimize(previous);
  }
  count_items(state);
}

// What a dependent look-up cannot be faster than: a read of a directory with an entry a symbol, and
// one of the symbols' keys where that leads.
void two_dependent_loads(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::mt19937_64 random(count);
  std::vector<std::uint32_t> directory(2 * count);
  std::vector<std::uint64_t> keys(count);
  std::vector<std::uint32_t> queries(kQueries);
  for (std::size_t i = 0; i < directory.size(); ++i) {
    directory[i] = static_cast<std::uint32_t>(i / 2);
  }
  for (std::uint32_t& query : queries) {
    query = static_cast<std::uint32_t>(random() % (directory.size() - 1));
  }
  for (std::uint64_t& key : keys) {
    key = random();
  }
  for (auto _ : state) {
    std::uint64_t previous = 0;
    for (const std::uint32_t query : queries) {
      previous = keys[directory[query + (previous & 1U)]];
    }
    benchmark::DoNotOptimize(previous);
  }
  count_items(state);
}

BENCHMARK(upper_bound_over_structs)->RangeMultiplier(10)->Range(10000, 1000000);
BENCHMARK(table_single)->RangeMultiplier(10)->Range(10000, 1000000);
BENCHMARK(table_batched)->RangeMultiplier(10)->Range(10000, 1000000);
BENCHMARK(table_dependent)->RangeMultiplier(10)->Range(10000, 1000000);
BENCHMARK(two_dependent_loads)->RangeMultiplier(10)->Range(10000, 1000000);

}  // namespace
}  // namespace whocall
