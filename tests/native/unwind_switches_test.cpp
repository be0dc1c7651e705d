// Tables that lead down the mapping of the stack, and what speaks against them.
#include <doctest/doctest.h>

#include "arch/x86/x86_64_facts.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr AddressRange kCode{0x401000, 0x402000};
constexpr AddressRange kMain{0x401000, 0x401100};    // CFA = rsp + 8
constexpr AddressRange kSwitch{0x401100, 0x401200};  // CFA = rbp + 16
constexpr AddressRange kLeaf{0x401300, 0x401400};    // CFA = rsp + 8
constexpr Address kAfterCall = 0x40110d;             // in kSwitch
constexpr Address kStack = 0x70000000;               // two of them in one mapping
constexpr Address kHigh = kStack + 0x400;

// push %rbp; mov %rsp,%rbp; mov %rsi,%rsp; ...; call *%rdi; mov %rbp,%rsp; pop %rbp; ret
const Bytes kSwitches{0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf4, 0x90, 0x90,
                      0x90, 0x90, 0xff, 0xd7, 0x48, 0x89, 0xec, 0x5d, 0xc3};
// The same without the move: a plain function that calls with 16 bytes of its own.
const Bytes kPlain{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x90,
                   0x90, 0x90, 0xff, 0xd7, 0x48, 0x89, 0xec, 0x5d, 0xc3};

TestProcess process_with(const Bytes& middle) {
  FrameTable table(kX86_64);
  const auto cie = table.usual_cie();
  table.fde(cie, kMain, {});
  table.fde(cie, kSwitch, Bytes{0x0e, 16, 0x86, 2, 0x0d, 6});  // rbp at CFA-16; CFA = rbp+16
  table.fde(cie, kLeaf, {});
  TestProcess process(kX86_64);
  process.code(kCode.begin, kCode.size());
  process.put(kSwitch.begin, middle);
  process.call(kMain.begin + 0x20, kSwitch.begin);
  process.call(kMain.begin + 0x40, kLeaf.begin);
  process.indirect_call(kMain.begin + 0x60);
  process.module("/bin/prog", {kCode, 0, table.bytes()}, true);
  return process;
}

// kLeaf runs on the upper stack; kSwitch was called on the lower one, from `caller`.
Backtrace walk(const Bytes& middle, Address caller, Address frame_pointer) {
  TestProcess process = process_with(middle);
  Stack stack(kStack, kX86_64);
  stack.words(4, 0).mark("frame").word(0).word(caller).word(0).up_to(kHigh);
  stack.word(kAfterCall).words(16, 0);
  process.stack(stack);
  return process.walk({{"rip", kLeaf.begin}, {"rsp", kHigh}, {"rbp", frame_pointer}},
                      only({"cfi", "analysis"}));
}

constexpr Address kFrame = kStack + 32;

TEST_CASE("switches: a table that counts from another register leads down") {
  const auto trace = walk(kSwitches, kMain.begin + 0x20, kFrame);
  CAPTURE(trace.stop.detail);
  CHECK(pcs(trace) == "0x401300 0x40110d 0x401020");
  CHECK(trusts(trace) == "context cfi cfi");
  CHECK(pcs(walk(kSwitches, kMain.begin + 0x60, kFrame)) == "0x401300 0x40110d 0x401060");
}

TEST_CASE("switches: a call of another function does not bear it out") {
  const auto trace = walk(kSwitches, kMain.begin + 0x40, kFrame);
  CHECK(pcs(trace) == "0x401300 0x40110d");
  CHECK(contains(trace.stop.detail, "leads back up the stack"));
}

// An overflow by one byte, which set the lowest byte of the saved frame pointer to zero.
TEST_CASE("switches: where the code never lost its stack pointer, the register was overwritten") {
  const auto trace = walk(kPlain, kMain.begin + 0x20, kFrame);
  CHECK(trace.frames.size() == 2);
  CHECK(trace.stop.reason != StopReason::end_of_stack);
}

TEST_CASE("switches: nothing leads down into a frame that was passed") {
  TestProcess process = process_with(kSwitches);
  Stack stack(kStack, kX86_64);
  stack.word(kMain.begin + 0x20).word(kAfterCall).words(2, 0);
  process.stack(stack.words(16, 0));
  // rbp leads to the word that kLeaf returned by.
  const auto trace = process.walk({{"rip", kLeaf.begin}, {"rsp", kStack}, {"rbp", kStack - 8}},
                                  only({"cfi", "analysis"}));
  CHECK(trace.frames.size() == 3);
}

}  // namespace
}  // namespace whocall::test
