// Quick steps: where stacks end, and what may not be taken from one stack to another.
#include <doctest/doctest.h>

#include <array>
#include <utility>

#include "arch/x86/x86_64_facts.h"
#include "unwind_again.h"

namespace whocall::test {
namespace {

constexpr AddressRange kCode{0x401000, 0x402000};
constexpr AddressRange kLeaf{0x401100, 0x401200};  // the only one with unwind tables
constexpr Address kStart = 0x401380;
constexpr Address kStack = 0x70000000;

TestProcess leaf_and(Address entry) {
  FrameTable table(kX86_64);
  table.fde(table.usual_cie(), kLeaf, {});
  TestProcess process(kX86_64);
  process.code(kCode.begin, kCode.size());
  process.module("/bin/prog", {kCode, entry, table.bytes()}, true);
  return process;
}

TEST_CASE("quick steps: an end is a fact too, and its CFA") {
  TestProcess process(kX86_64);
  FrameTable table(kX86_64);
  const auto cie = table.usual_cie();
  table.fde(cie, kLeaf, {});
  table.fde(cie, {kStart, kStart + 0x40}, Bytes{0x0e, 32, 0x07, 16});  // CFA rsp+32; rip undefined
  process.code(kCode.begin, kCode.size());
  process.call(kStart + 0x20, kLeaf.begin);
  process.module("/bin/prog", {kCode, 0, table.bytes()}, true);
  Stack stack(kStack, kX86_64);
  process.stack(stack.word(kStart + 0x20).words(8, 0));
  Again again(process);
  again.check(process, {{"rip", kLeaf.begin}, {"rsp", kStack}}, {}, "0x401100 0x4013a0");
  const StepFact* const fact = again.walker.facts().at({kStart + 0x20, false});
  REQUIRE(fact != nullptr);
  CHECK(fact->kind == StepFact::Kind::end_row);
}

// Who was interrupted at the entry point stands where the stack begins. Who finds that address
// where a return address should be learns something else.
TEST_CASE("quick steps: an entry point that was put on the stack is not one that was interrupted") {
  TestProcess process = leaf_and(kStart);
  Stack stack(kStack, kX86_64);
  process.stack(stack.word(kStart).words(8, 0));
  const TestProcess::Values interrupted = {{"rip", kStart}, {"rsp", kStack + 8}};
  const TestProcess::Values planted = {{"rip", kLeaf.begin}, {"rsp", kStack}};
  Again again(process);
  again.check(process, interrupted, {}, "0x401380");
  again.check(process, planted, {}, "0x401100 0x401380");
  Again other_way(process);
  other_way.check(process, planted, {}, "0x401100 0x401380");
  other_way.check(process, interrupted, {}, "0x401380");
}

TEST_CASE("quick steps: above an address that was put on the stack only tables lead on") {
  TestProcess process = leaf_and(0);
  process.put(kStart, {0x55, 0x5d, 0xc3});  // push %rbp; pop %rbp; ret
  process.call(0x401480, kStart);
  Stack stack(kStack, kX86_64);
  process.stack(stack.word(kStart).word(0x401480).words(8, 0));
  Again again(process);
  const WalkOptions options = only({"cfi", "analysis"});
  again.check(process, {{"rip", kStart}, {"rsp", kStack + 8}}, options, "0x401380 0x401480");
  again.check(process, {{"rip", kLeaf.begin}, {"rsp", kStack}}, options, "0x401100 0x401380");
}

TEST_CASE("quick steps: a return address of zero ends a stack by its tables alone") {
  TestProcess process = leaf_and(0);
  const Address back = kStart + 9;
  process.put(kStart, {0x48, 0x83, 0xec, 0x08});  // sub $8,%rsp; call kStart; add $8,%rsp; ret
  process.call(back, kStart);
  process.put(back, {0x48, 0x83, 0xc4, 0x08, 0xc3});
  Stack stack(kStack, kX86_64);
  process.stack(stack.word(1).word(back).word(2).word(back).word(3).words(8, 0));
  Again again(process);
  for (int round = 0; round < 2; ++round) {
    again.check(process, {{"rip", kStart + 4}, {"rsp", kStack}}, only({"cfi", "analysis"}),
                "0x401384 0x401389 0x401389");
  }
}

// A call of a function that jumps to wherever a register says. From code that no file holds nobody
// can tell whether it came that way; from the function itself one can.
TEST_CASE("quick steps: that a call may lead to one callee says nothing of another") {
  constexpr Address kJit = 0x500000;
  constexpr Address kOuter = 0x401480;
  constexpr Address kOther = 0x401680;
  FrameTable table(kX86_64);  // nothing but where functions begin
  const auto cie = table.usual_cie();
  table.fde(cie, kLeaf, {});
  table.fde(cie, {kStart, kStart + 0x40}, {});
  TestProcess process(kX86_64);
  process.code(kCode.begin, kCode.size());
  process.module("/bin/prog", {kCode, 0, table.bytes()}, true);
  process.code(kJit, 0x100);
  process.put(kStart, {0xff, 0xe0});  // jmp *%rax
  process.indirect_call(kStart + 0x20);
  process.indirect_call(kJit + 0x20);
  process.call(kOuter, kStart);
  process.call(kOther, kStart);
  constexpr Address kApart = 0x1000000;  // bytes between stacks
  const std::array<std::pair<Address, Address>, 3> ways = {
      {{kStart + 0x20, kOther}, {kJit + 0x20, kOuter}, {kStart + 0x20, kOuter}}};
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Stack stack(kStack + i * kApart, kX86_64);
    stack.word(stack.base() + 32).word(ways[i].first).words(2, 1);
    stack.word(stack.base() + 64).word(ways[i].second).words(2, 1).words(4, 0);
    process.stack(stack);
  }
  Again again(process);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const Address base = kStack + i * kApart;
    again.check(process, {{"rip", kLeaf.begin}, {"rsp", base}, {"rbp", base}},
                only({"frame-pointer"}),
                "0x401100 " + hex(ways[i].first) + " " + hex(ways[i].second));
  }
  const StepFacts& facts = again.walker.facts();
  const StepFact* const inside = facts.at({kStart + 0x20, false});
  const StepFact* const made = facts.at({kJit + 0x20, false});
  REQUIRE(inside != nullptr);
  REQUIRE(made != nullptr);
  CHECK(facts.call(*inside, kOuter) == CallMatch::matches);
  CHECK(facts.call(*made, kOuter) == CallMatch::unknown);
}

}  // namespace
}  // namespace whocall::test
