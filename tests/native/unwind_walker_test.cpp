// What holds for every walk: options, limits, stops, and damage to the stack.
#include "unwind/strategies/strategies.h"
#include "unwind/walk/walker.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "arch/x86/x86_64_facts.h"
#include "unwind/walk/stack_switches.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kStack = 0x7ffc0000;
constexpr AddressRange kLeaf{0x401000, 0x401100};
constexpr AddressRange kRecursive{0x401100, 0x401200};

// Both keep one word of locals; kRecursive calls itself and kLeaf.
TestProcess deep_process() {
  FrameTable table(kX86_64);
  const auto cie = table.usual_cie();
  table.fde(cie, kLeaf, {0x0e, 16});
  table.fde(cie, kRecursive, {0x0e, 16});
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.module("/bin/deep", {{kCode, kCode + 0x1000}, 0, table.bytes()}, true);
  process.call(kRecursive.begin + 0x20, kRecursive.begin);
  process.call(kRecursive.begin + 0x40, kLeaf.begin);
  return process;
}

Stack deep_stack(std::size_t depth) {
  Stack stack(kStack, kX86_64);
  stack.word(0x1111).word(kRecursive.begin + 0x40);
  for (std::size_t i = 0; i < depth; ++i) {
    stack.word(i).word(kRecursive.begin + 0x20);
  }
  return stack.word(0).word(0).words(4, 0);
}

const TestProcess::Values kLeafRegisters = {{"rip", kLeaf.begin + 4}, {"rsp", kStack}};

Backtrace walk_deep(std::size_t depth, const WalkOptions& options) {
  TestProcess process = deep_process();
  process.stack(deep_stack(depth));
  return process.walk({{"rip", kLeaf.begin + 4}, {"rsp", kStack}}, options);
}

TEST_CASE("walker: ten thousand frames, each above the one before") {
  const auto trace = walk_deep(10000, {});
  CHECK(trace.frames.size() == 10002);
  CHECK(trace.stop.reason == StopReason::end_of_stack);
  for (std::size_t i = 1; i < trace.frames.size(); ++i) {
    if (trace.frames[i].sp != trace.frames[i - 1].sp + 16) {
      FAIL("frame " << i);
    }
  }
}

TEST_CASE("walker: as many frames as were asked for") {
  for (const std::size_t limit : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
    WalkOptions options;
    options.max_frames = limit;
    const auto trace = walk_deep(100, options);
    CHECK(trace.frames.size() == limit);
    CHECK(trace.stop.reason == StopReason::frame_limit);
    CHECK(contains(trace.stop.detail, std::to_string(limit) + " frames"));
  }
  WalkOptions exact;
  exact.max_frames = 103;
  CHECK(walk_deep(100, exact).stop.reason == StopReason::end_of_stack);
}

TEST_CASE("walker: a strategy that does not exist is the caller's mistake") {
  WalkOptions options;
  options.without = {"cfi", "astrology"};
  CHECK_THROWS_WITH_AS(walk_deep(1, options), "there is no strategy \"astrology\"",
                       std::invalid_argument);
  for (const std::string& name : strategy_names()) {
    options.without = {name};
    CHECK_NOTHROW(walk_deep(1, options));
  }
}

TEST_CASE("walker: without any strategy there is the thread's own frame") {
  const auto trace = walk_deep(10, only({}));
  CHECK(trace.frames.size() == 1);
  CHECK(trace.frames[0].trust == Trust::context);
  CHECK(trace.stop.reason == StopReason::no_caller);
}

TEST_CASE("walker: registers and explanations only when asked for") {
  const auto plain = walk_deep(1, {});
  CHECK(plain.details.empty());
  WalkOptions options;
  options.registers = true;
  const auto full = walk_deep(1, options);
  REQUIRE(full.details[1].registers != nullptr);
  CHECK(full.details[1].registers->get(kX86_64.registers.sp) == kStack + 16);
  CHECK(full.details[1].registers->get(kX86_64.registers.pc) == kRecursive.begin + 0x40);
  REQUIRE(!full.details[0].saved.empty());
  CHECK(full.details[0].saved[0].number == kX86_64.registers.pc);
  CHECK(full.details[0].saved[0].address == kStack + 8);
  CHECK(full.details.back().saved.empty());
}

TEST_CASE("walker: asks now and then whether to go on, and what that throws ends the walk") {
  WalkOptions options;
  unsigned asked = 0;
  options.check_interrupt = [&] { ++asked; };
  walk_deep(10000, options);
  CHECK(asked >= 10);
  options.check_interrupt = [] { throw std::runtime_error("interrupted"); };
  CHECK_THROWS_WITH(walk_deep(10000, options), "interrupted");
}

TEST_CASE("walker: a smashed stack gives no frames of its filling, and says where it led") {
  TestProcess process = deep_process();
  Stack stack(kStack, kX86_64);
  process.stack(stack.words(200, 0x4141414141414141));
  const auto trace = process.walk(kLeafRegisters);
  CHECK(pcs(trace) == "0x401004");
  CHECK(trace.stop.reason == StopReason::no_caller);
  CHECK(contains(trace.stop.detail, "cfi leads to 0x4141414141414141, which is not code"));
}

TEST_CASE("walker: behind a smashed return address the search finds the frames that are whole") {
  TestProcess process = deep_process();
  Stack stack(kStack, kX86_64);
  stack.words(6, 0x4141414141414141);
  stack.word(kRecursive.begin + 0x40).word(7).word(kRecursive.begin + 0x20).word(8).word(0);
  process.stack(stack.words(8, 0));
  WalkOptions options;
  options.explain = true;
  const auto trace = process.walk(kLeafRegisters, options);
  CHECK(pcs(trace) == "0x401004 0x401140 0x401120");
  CHECK(trusts(trace) == "context scan cfi");
  REQUIRE(trace.frames.size() == 3);
  CHECK(
      contains(trace.details[1].explanation, "cfi leads to 0x4141414141414141, which is not code"));
}

TEST_CASE("walker: a thread of which nothing is known") {
  const TestProcess process = deep_process();
  const auto trace = process.walk({});
  CHECK(trace.frames.size() == 1);
  CHECK(trace.frames[0].pc == 0);
  CHECK(trace.frames[0].sp == 0);
}

// The innermost function may leave the stack pointer where it is, as vfork of glibc does; no other.
TEST_CASE("walker: a row that leaves the stack pointer where it is, or lowers it, is refused") {
  for (const std::int64_t offset : {0, -8, -4096}) {
    FrameTable table(kX86_64);
    // CFA = rsp + offset, return address = rdx: only the stack pointer speaks against it.
    const auto cie = table.cie(Bytes{0x12, 7}.sleb(offset / -8).append(Bytes{0x09, 16, 1}));
    table.fde(cie, kLeaf);
    TestProcess process(kX86_64);
    process.code(kCode, 0x1000);
    process.call(kLeaf.begin + 0x20, kLeaf.begin);
    process.module("/bin/loop", {{kCode, kCode + 0x1000}, 0, table.bytes()}, true);
    Stack stack(kStack - 0x2000, kX86_64);
    process.stack(stack.words(0x500, 0));
    const auto trace = process.walk(
        {{"rip", kLeaf.begin}, {"rsp", kStack}, {"rdx", kLeaf.begin + 0x20}}, only({"cfi"}));
    CHECK(trace.frames.size() == (offset == 0 ? 2 : 1));
    CHECK(contains(trace.stop.detail, "leads back up the stack") == (offset != 0));
  }
}

TEST_CASE("walker: tables that hop between two stacks for ever are given up") {
  // CFA = *rsp, return address = *(CFA + 8): each stack's first word points to the other.
  FrameTable table(kX86_64);
  const auto cie = table.cie(Bytes{0x0f, 3, 0x77, 0, 0x06, 0x11, 16}.sleb(-1));
  table.fde(cie, kLeaf);
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.call(kLeaf.begin + 0x20, kLeaf.begin);
  process.module("/bin/hop", {{kCode, kCode + 0x1000}, 0, table.bytes()}, true);
  Stack low(0x600000, kX86_64);
  low.word(kStack).word(kLeaf.begin + 0x20);
  Stack high(kStack, kX86_64);
  high.word(0x600000).word(kLeaf.begin + 0x20);
  process.stack(low);
  process.stack(high);
  const auto trace = process.walk({{"rip", kLeaf.begin}, {"rsp", kStack}}, only({"cfi"}));
  CHECK(trace.frames.size() > 2);
  CHECK(trace.frames.size() <= 2 * StackSwitches::kLimit + 2);
  CHECK(trace.stop.reason == StopReason::no_caller);
}

TEST_CASE("walker: one walker walks many threads alike") {
  TestProcess process = deep_process();
  process.stack(deep_stack(5));
  const auto image = process.image();
  Walker walker(*image);
  Thread thread;
  thread.registers = process.registers({{"rip", kLeaf.begin + 4}, {"rsp", kStack}});
  const std::string first = pcs(walker.walk(thread, {}));
  CHECK(first == pcs(walker.walk(thread, {})));
  CHECK(first == pcs(walker.walk(thread, {})));
}

TEST_CASE("walker: words for JSON") {
  CHECK(to_string(Trust::context) == "context");
  CHECK(to_string(Trust::frame_pointer) == "frame-pointer");
  CHECK(to_string(Evidence::call_target) == "call-target");
  CHECK(to_string(Evidence::signal) == "signal");
  CHECK(to_string(StopReason::end_of_stack) == "end-of-stack");
  CHECK(to_string(StopReason::frame_limit) == "frame-limit");
  EvidenceSet set;
  CHECK(set.list().empty());
  set.add(Evidence::signal);
  set.add(Evidence::call_before);
  CHECK(set.list() == std::vector{Evidence::call_before, Evidence::signal});
}

}  // namespace
}  // namespace whocall::test
