// Return addresses that no call left: replaced by a tool's, or put there to start a stack by hand.
#include <doctest/doctest.h>

#include "arch/x86/x86_64_facts.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr AddressRange kCode{0x401000, 0x402000};
constexpr AddressRange kMain{0x401000, 0x401100};    // CFA = rsp + 24
constexpr AddressRange kCaller{0x401100, 0x401200};  // the same
constexpr AddressRange kBefore{0x401200, 0x401240};  // the same; ends with a call
constexpr AddressRange kLeaf{0x401300, 0x401400};    // CFA = rsp + 8
constexpr Address kPlanted = 0x401480;               // without tables, unless a test gives them
constexpr Address kStack = 0x70000000;

const Bytes kReturns{0x48, 0x83, 0xec, 0x08,         // sub $8,%rsp
                     0x48, 0x83, 0xc4, 0x08, 0xc3};  // add $8,%rsp; ret
const Bytes kEnds{0x0f, 0x05, 0xf4};                 // syscall; hlt

TestProcess process_with(const Bytes& planted, bool tabled = false) {
  const Bytes locals{0x0e, 24};
  FrameTable table(kX86_64);
  const auto cie = table.usual_cie();
  table.fde(cie, kMain, locals);
  table.fde(cie, kCaller, locals);
  table.fde(cie, kBefore, locals);
  table.fde(cie, {kBefore.end, kBefore.end + 0x40}, {});
  table.fde(cie, kLeaf, {});
  if (tabled) {
    table.fde(cie, {kPlanted, kPlanted + 0x40}, {});
  }
  TestProcess process(kX86_64);
  process.code(kCode.begin, kCode.size());
  process.put(kPlanted, planted);
  process.put(kBefore.end, planted);
  process.call(kMain.begin + 0x20, kMain.begin);
  process.call(kMain.begin + 0x60, kCaller.begin);
  process.indirect_call(kCaller.begin + 0x40);
  process.module("/bin/prog", {kCode, 0, table.bytes()}, true);
  return process;
}

// A frame of which nothing is known, and three with tables up to the end of the stack.
Stack& callers(Stack& stack) {
  stack.words(3, 1).word(kCaller.begin + 0x40).words(2, 2).word(kMain.begin + 0x60).words(2, 3);
  return stack.word(kMain.begin + 0x20).words(2, 4).word(0).words(4, 0);
}

Backtrace walk_from_leaf(const TestProcess& process) {
  return process.walk({{"rip", kLeaf.begin}, {"rsp", kStack}});
}

TEST_CASE("planted: above a replaced return address the next frames are searched for") {
  for (const bool tabled : {false, true}) {
    CAPTURE(tabled);
    TestProcess process = process_with(kReturns, tabled);
    Stack stack(kStack, kX86_64);
    process.stack(callers(stack.word(kPlanted)));
    const auto trace = walk_from_leaf(process);
    CAPTURE(trace.stop.detail);
    CHECK(pcs(trace) == "0x401300 0x401480 0x401140 0x401060 0x401020");
    CHECK(trusts(trace) == "context cfi scan cfi cfi");
    CHECK(trace.frames[1].interrupted);
    CHECK(trace.frames[1].evidence.has(Evidence::return_replaced));
    CHECK(trace.stop.reason == StopReason::end_of_stack);
  }
}

TEST_CASE("planted: a page of its own that nobody can read") {
  TestProcess process = process_with(kReturns);
  process.map_unread("[uprobes]", {0x500000, 0x501000}, "--x");
  Stack stack(kStack, kX86_64);
  process.stack(callers(stack.word(0x500000)));
  const auto trace = walk_from_leaf(process);
  CAPTURE(trace.stop.detail);
  CHECK(pcs(trace) == "0x401300 0x500000 0x401140 0x401060 0x401020");
}

TEST_CASE("planted: who never returns was started by hand, whatever lies above") {
  for (const bool tabled : {false, true}) {
    CAPTURE(tabled);
    TestProcess process = process_with(kEnds, tabled);
    Stack stack(kStack, kX86_64);
    process.stack(callers(stack.word(kPlanted)));
    const auto trace = walk_from_leaf(process);
    CAPTURE(trace.stop.detail);
    CHECK(pcs(trace) == "0x401300 0x401480");
    CHECK_FALSE(trace.frames[1].evidence.has(Evidence::return_replaced));
    CHECK(trace.stop.reason == StopReason::end_of_stack);
    CHECK(contains(trace.stop.detail, "started there by hand"));
  }
}

TEST_CASE("planted: where no return address lies above, the stack was started by hand") {
  TestProcess process = process_with(kReturns);
  Stack stack(kStack, kX86_64);
  process.stack(stack.word(kPlanted).words(20, 5));
  const auto trace = walk_from_leaf(process);
  CHECK(pcs(trace) == "0x401300 0x401480");
  CHECK(contains(trace.stop.detail, "started there by hand"));
}

TEST_CASE("planted: where what lies above leads nowhere, nothing is claimed") {
  TestProcess process = process_with(kReturns);
  Stack stack(kStack, kX86_64);
  process.stack(stack.word(kPlanted).words(20, 5).word(kMain.begin + 0x60).words(20, 6));
  const auto trace = walk_from_leaf(process);
  CHECK(pcs(trace) == "0x401300 0x401480");
  CHECK(trace.stop.reason == StopReason::no_caller);
  CHECK(contains(trace.stop.detail, "replaced a return address"));
}

// libcoro's &abort, right behind a function whose last instruction is `call abort`.
TEST_CASE(
    "planted: a call that cannot have led to the frame below, from a frame that leads nowhere") {
  TestProcess process = process_with(kEnds, true);
  process.call(kBefore.end, kPlanted);
  Stack stack(kStack, kX86_64);
  process.stack(stack.word(kBefore.end).words(2, 1).word(0x1234).words(20, 0));
  const auto trace = walk_from_leaf(process);
  CAPTURE(trace.stop.detail);
  CHECK(pcs(trace) == "0x401300 0x401240");
  CHECK(trace.frames[1].interrupted);
  CHECK(contains(trace.stop.detail, "started there by hand"));
}

TEST_CASE("planted: the same call, from a frame that leads on, is doubted only") {
  TestProcess process = process_with(kEnds, true);
  process.call(kBefore.end, kPlanted);
  Stack stack(kStack, kX86_64);
  stack.word(kBefore.end).words(2, 1).word(kMain.begin + 0x20).words(2, 2).word(0);
  process.call(kMain.begin + 0x20, kBefore.begin);
  process.stack(stack.words(4, 0));
  const auto trace = walk_from_leaf(process);
  CHECK(pcs(trace) == "0x401300 0x401240 0x401020");
  CHECK(trusts(trace) == "context scan cfi");
  CHECK(trace.frames[1].evidence.has(Evidence::call_elsewhere));
  CHECK_FALSE(trace.frames[1].interrupted);
}

TEST_CASE("planted: a call that may have led to the frame below is not doubted") {
  TestProcess process = process_with(kEnds);
  process.call(kBefore.end, kLeaf.begin);
  Stack stack(kStack, kX86_64);
  process.stack(stack.word(kBefore.end).words(2, 1).word(0x1234).words(20, 0));
  const auto trace = walk_from_leaf(process);
  CHECK(pcs(trace) == "0x401300 0x401240");
  CHECK(trusts(trace) == "context cfi");
  CHECK_FALSE(trace.frames[1].interrupted);
}

}  // namespace
}  // namespace whocall::test
