// What a warm walk is set beside: libunwind's walk of its own stack, per frame, and a load that
// comes out of the second cache, per load.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#if __has_include(<libunwind.h>)
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#define WHOCALL_HAS_LIBUNWIND 1
#endif

namespace whocall {
namespace {

// Each load's address is what the one before has read: a random ring of 256 KiB, which fits no
// first cache and every second one.
void load_from_l2(benchmark::State& state) {
  constexpr std::size_t kLine = 64 / sizeof(std::uint64_t);
  constexpr std::size_t kLines = (256 << 10) / 64;
  constexpr std::size_t kLoads = 65536;
  std::vector<std::uint64_t> order(kLines);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, std::mt19937_64(1));
  std::vector<std::uint64_t> ring(kLines * kLine);
  for (std::size_t i = 0; i < kLines; ++i) {
    ring[order[i] * kLine] = order[(i + 1) % kLines] * kLine;
  }
  std::uint64_t at = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kLoads; ++i) {
      at = ring[at];
    }
    benchmark::DoNotOptimize(at);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kLoads));
}

BENCHMARK(load_from_l2);

#ifdef WHOCALL_HAS_LIBUNWIND
constexpr int kDepth = 24;

// A chain of functions with frames of different sizes, as in walk.cpp.
template <int kLevel, typename Act>
[[gnu::noinline]] void descend(const Act& act) {
  std::uint64_t locals[1 + kLevel % 13];
  benchmark::DoNotOptimize(&locals[0]);
  if constexpr (kLevel == 0) {
    act();
  } else {
    descend<kLevel - 1>(act);
  }
  benchmark::ClobberMemory();  // and no tail call
}

void libunwind_steps(benchmark::State& state) {
  unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
  std::int64_t frames = 0;
  descend<kDepth>([&] {
    for (auto _ : state) {
      unw_context_t context;
      unw_cursor_t cursor;
      unw_getcontext(&context);
      unw_init_local(&cursor, &context);
      unw_word_t pc = 0;
      do {
        unw_get_reg(&cursor, UNW_REG_IP, &pc);
        benchmark::DoNotOptimize(pc);
        ++frames;
      } while (unw_step(&cursor) > 0);
    }
  });
  state.SetItemsProcessed(frames);
}

// Return addresses alone, by its quickest way.
void libunwind_backtrace(benchmark::State& state) {
  unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
  std::int64_t frames = 0;
  descend<kDepth>([&] {
    for (auto _ : state) {
      void* found[4 * kDepth];
      frames += unw_backtrace(found, 4 * kDepth);
      benchmark::DoNotOptimize(&found[0]);
    }
  });
  state.SetItemsProcessed(frames);
}

BENCHMARK(libunwind_steps);
BENCHMARK(libunwind_backtrace);
#endif

}  // namespace
}  // namespace whocall
