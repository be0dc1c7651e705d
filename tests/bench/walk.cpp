// Walking: a warm walk per frame, a thousand and one threads, a hundred thousand frames deep. The
// stacks are synthetic, the tables are those of the functions that a test writes by hand.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "../native/unwind_process.h"
#include "arch/x86/x86_64_facts.h"

namespace whocall {
namespace {

using test::Bytes;
using test::FrameTable;
using test::Stack;
using test::TestProcess;

constexpr Address kCode = 0x401000;
constexpr Address kStacks = 0x7f0000000000;
constexpr Address kStackStride = 0x10000000;
constexpr std::size_t kFunctions = 40;
constexpr std::size_t kFunctionSize = 0x200;

// Stacks begin in function 23, which is where the program is started.
constexpr Address kEntry = kCode + 23 * kFunctionSize + 0x60;

// Function i saves rbp below 1 + i % 13 locals and calls function i - 1; the first calls itself.
enum class Rules { tables, frame_pointers };

Address call_in(std::size_t function) { return kCode + function * kFunctionSize + 0x85; }

TestProcess make_code(Rules rules) {
  FrameTable table(kX86_64);
  const auto cie = table.usual_cie();
  TestProcess process(kX86_64);
  process.code(kCode, kFunctions * kFunctionSize);
  for (std::size_t i = 0; i < kFunctions; ++i) {
    const Address begin = kCode + i * kFunctionSize;
    process.call(call_in(i), i == 0 ? kCode : begin - kFunctionSize);
    const Bytes rows = Bytes{0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0e}.uleb(8 * (3 + i % 13));
    if (rules == Rules::tables) {
      table.fde(cie, {begin, begin + kFunctionSize}, rows);
    }
  }
  process.module("/bin/bench", {{kCode, kCode + kFunctions * kFunctionSize}, kEntry, table.bytes()},
                 true);
  return process;
}

// A chain of `depth` frames with proper frame pointers: function 0 again and again, then the other
// functions of the chain, one each.
Stack make_stack(Address base, std::size_t depth, std::size_t chain) {
  const auto function_at = [&](std::size_t level) {
    return level + chain <= depth ? 0 : level + chain - depth;
  };
  const auto locals = [&](std::size_t level) { return 1 + function_at(level) % 13; };
  Stack stack(base, kX86_64);
  for (std::size_t level = 0; level + 1 < depth; ++level) {
    stack.words(locals(level), 0x1111);
    stack.word(stack.here() + 16 + 8 * locals(level + 1)).word(call_in(function_at(level + 1)));
  }
  return stack.words(locals(depth - 1), 0x1111).words(16, 0);
}

struct Bench {
  Bench(Rules rules, std::size_t thread_count, std::size_t depth, std::size_t chain)
      : process(make_code(rules)) {
    for (std::size_t i = 0; i < thread_count; ++i) {
      const Stack stack = make_stack(kStacks + i * kStackStride, depth, chain);
      process.stack(stack);
      Thread thread;
      thread.number = static_cast<unsigned>(i + 1);
      thread.registers = process.registers(
          {{"rip", kCode + 0x80}, {"rsp", stack.base()}, {"rbp", stack.base() + 8}});
      threads.push_back(thread);
    }
    image = process.image();
  }
  TestProcess process;
  std::vector<Thread> threads;
  std::unique_ptr<ProcessImage> image;
};

// Time per frame, with one walker for all rounds or a new one (cold caches) each time.
void walk(benchmark::State& state, const Bench& bench, const WalkOptions& options, bool warm) {
  std::int64_t frames = 0;
  std::size_t depth = 0;
  auto walker = std::make_unique<Walker>(*bench.image);
  for (auto _ : state) {
    if (!warm) {
      walker = std::make_unique<Walker>(*bench.image);
    }
    for (const Thread& thread : bench.threads) {
      const Backtrace trace = walker->walk(thread, options);
      depth = trace.frames.size();
      frames += static_cast<std::int64_t>(depth);
      benchmark::DoNotOptimize(trace.frames.data());
    }
  }
  state.SetItemsProcessed(frames);
  state.counters["depth"] = static_cast<double>(depth);
}

void warm_walk_by_tables(benchmark::State& state) {
  static const Bench bench(Rules::tables, 1, 24, 24);
  walk(state, bench, {}, true);
}

void warm_walk_by_frame_pointers(benchmark::State& state) {
  static const Bench bench(Rules::frame_pointers, 1, 24, 24);
  walk(state, bench, test::only({"frame-pointer"}), true);
}

void threads_1001(benchmark::State& state) {
  static const Bench bench(Rules::tables, 1001, 24, 24);
  walk(state, bench, {}, false);
}

void deep_100000(benchmark::State& state) {
  static const Bench bench(Rules::tables, 1, 100000, 24);
  walk(state, bench, {}, false);
}

BENCHMARK(warm_walk_by_tables)->Unit(benchmark::kMicrosecond);
BENCHMARK(warm_walk_by_frame_pointers)->Unit(benchmark::kMicrosecond);
BENCHMARK(threads_1001)->Unit(benchmark::kMillisecond);
BENCHMARK(deep_100000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace whocall
