// The frame pointer's chain, x86-64 and i386, with the stacks written out.
#include <doctest/doctest.h>

#include <ctime>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kCode = 0x401000;
constexpr Address kStack = 0x7ffc0000;

// leaf <- middle <- outer; each `push %rbp; mov %rsp,%rbp`, and outer's return address is zero.
Stack three_frames(const Architecture& arch) {
  Stack stack(kStack, arch);
  stack.mark("sp").words(2, 0x1111);
  stack.mark("leaf").word_of("middle").word(kCode + 0x110).mark("middle sp").word(0x2222);
  stack.mark("middle").word_of("outer").word(kCode + 0x210).mark("outer sp").words(3, 0x3333);
  stack.mark("outer").word(0).word(0).words(4, 0);
  return stack;
}

TestProcess chain_process(const Architecture& arch, const Stack& stack) {
  TestProcess process(arch);
  process.code(kCode, 0x1000);
  process.call(kCode + 0x110, kCode);
  process.call(kCode + 0x210, kCode + 0x100);
  process.stack(stack);
  return process;
}

void check_chain(const Architecture& arch, std::string_view pc, std::string_view sp,
                 std::string_view fp) {
  const Stack stack = three_frames(arch);
  const TestProcess process = chain_process(arch, stack);
  const auto trace = process.walk({{pc, kCode + 8}, {sp, stack.at("sp")}, {fp, stack.at("leaf")}},
                                  only({"frame-pointer"}));
  CHECK(pcs(trace) == "0x401008 0x401110 0x401210");
  CHECK(trusts(trace) == "context frame-pointer frame-pointer");
  REQUIRE(trace.frames.size() == 3);
  CHECK(trace.frames[0].sp == stack.at("sp"));
  CHECK(trace.frames[0].cfa == stack.at("middle sp"));
  CHECK(trace.frames[1].sp == stack.at("middle sp"));
  CHECK(trace.frames[1].cfa == stack.at("outer sp"));
  CHECK(trace.frames[1].lookup_pc() == kCode + 0x10f);
  CHECK(trace.frames[0].lookup_pc() == kCode + 8);
  CHECK(trace.stop.reason != StopReason::frame_limit);
}

TEST_CASE("frame pointer: a chain on x86-64") { check_chain(kX86_64, "rip", "rsp", "rbp"); }

TEST_CASE("frame pointer: a chain on i386") { check_chain(kI386, "eip", "esp", "ebp"); }

TEST_CASE("frame pointer: the frames carry their evidence") {
  const Stack stack = three_frames(kX86_64);
  const auto trace =
      chain_process(kX86_64, stack)
          .walk({{"rip", kCode + 8}, {"rsp", stack.at("sp")}, {"rbp", stack.at("leaf")}},
                only({"frame-pointer"}));
  REQUIRE(trace.frames.size() == 3);
  CHECK(trace.frames[0].evidence.list().empty());
  const EvidenceSet& evidence = trace.frames[1].evidence;
  CHECK(evidence.has(Evidence::call_before));
  CHECK(evidence.has(Evidence::cfa_up));
  CHECK(evidence.has(Evidence::frame_pointer));
  CHECK(evidence.has(Evidence::call_target));  // code without a file begins where its memory does
  CHECK_FALSE(evidence.has(Evidence::signal));
}

// One frame whose frame pointer register holds `fp`.
Backtrace with_fp(Address fp, const Stack& stack) {
  return chain_process(kX86_64, stack)
      .walk({{"rip", kCode + 8}, {"rsp", stack.at("sp")}, {"rbp", fp}}, only({"frame-pointer"}));
}

TEST_CASE("frame pointer: a register that holds something else is no frame pointer") {
  const Stack stack = three_frames(kX86_64);
  for (const Address fp : {Address{0}, Address{1}, stack.at("leaf") + 4, stack.at("sp") - 8,
                           kCode + 0x800, ~Address{0}, ~Address{7}}) {
    CAPTURE(fp);
    const auto trace = with_fp(fp, stack);
    CHECK(trace.frames.size() == 1);
    CHECK(trace.stop.reason == StopReason::no_caller);
  }
}

TEST_CASE("frame pointer: a saved pc that no call precedes is refused, and the stop says why") {
  Stack stack(kStack, kX86_64);
  stack.mark("sp").mark("leaf").word(0).word(kCode + 0x300).words(4, 0);
  const auto trace = with_fp(stack.at("leaf"), stack);
  CHECK(trace.frames.size() == 1);
  CHECK(contains(trace.stop.detail,
                 "frame-pointer leads to 0x401300, which no call instruction precedes"));
}

TEST_CASE("frame pointer: a chain that points back down ends") {
  Stack stack(kStack, kX86_64);
  stack.mark("sp").word(0x1111);
  stack.mark("leaf").word_of("middle").word(kCode + 0x110).word(0x2222);
  stack.mark("middle").word_of("leaf").word(kCode + 0x210).words(4, 0);
  const auto trace = with_fp(stack.at("leaf"), stack);
  CHECK(pcs(trace) == "0x401008 0x401110 0x401210");
  CHECK(trace.stop.reason == StopReason::no_caller);
}

TEST_CASE("frame pointer: a chain that points at itself ends") {
  Stack stack(kStack, kX86_64);
  stack.mark("sp").word(0x1111);
  stack.mark("leaf").word_of("leaf").word(kCode + 0x110).words(4, 0);
  const auto trace = with_fp(stack.at("leaf"), stack);
  CHECK(pcs(trace) == "0x401008 0x401110");
  CHECK(trace.stop.reason == StopReason::no_caller);
}

// SBCL's call_into_lisp: the frames of Lisp lead back to it, %rbp to the stack that it came from.
TEST_CASE("frame pointer: a chain into another stack is followed where it was called from there") {
  constexpr Address kSwitch = 0x402000;
  for (const Address called : {kSwitch, kCode + 0x100}) {
    for (const Address other : {Address{0x600000}, kStack + 0x10000}) {
      CAPTURE(called);
      CAPTURE(other);
      Stack stack(kStack, kX86_64);
      stack.mark("leaf").word(other).word(kSwitch + 0x110).words(4, 0);
      Stack elsewhere(other, kX86_64);
      elsewhere.word(0).word(kCode + 0x210).words(4, 0);
      TestProcess process = chain_process(kX86_64, stack);
      process.code(kSwitch, 0x1000);
      process.indirect_call(kSwitch + 0x110);
      process.call(kCode + 0x210, called);
      process.stack(elsewhere);
      const auto trace = process.walk({{"rip", kCode + 8}, {"rsp", kStack}, {"rbp", kStack}},
                                      only({"frame-pointer"}));
      const bool here = called == kSwitch;
      CHECK(pcs(trace) == std::string("0x401008 0x402110") + (here ? " 0x401210" : ""));
      CHECK(trace.frames.back().sp == (here ? other + 16 : kStack + 16));
    }
  }
}

TEST_CASE("frame pointer: the last words of a mapping") {
  Stack stack(kStack, kX86_64);
  stack.mark("sp").word(0x1111).mark("leaf").word(0);
  const auto trace = with_fp(stack.at("leaf"), stack);  // the return address lies beyond
  CHECK(trace.frames.size() == 1);
  CHECK(contains(trace.stop.detail, "finds the return address in unreadable memory"));
}

// Links made of four words each, whose calls may go anywhere: each is measured against a search.
std::clock_t cost_of_links(std::size_t count) {
  Stack stack(kStack, kX86_64);
  stack.words(2, 0);
  for (std::size_t i = 0; i < count; ++i) {
    stack.word(stack.here() + 32).word(kCode + 0x110).words(2, 0);
  }
  TestProcess process(kX86_64);
  process.code(kCode, 0x1000);
  process.indirect_call(kCode + 0x110);
  process.stack(stack.words(4, 0));
  const std::clock_t begin = std::clock();
  const auto trace = process.walk({{"rip", kCode + 0x110}, {"rsp", kStack}, {"rbp", kStack + 16}},
                                  only({"frame-pointer", "scan"}));
  CHECK(trace.frames.size() == count + 1);
  return std::clock() - begin;
}

TEST_CASE("frame pointer: a frame costs as much behind many as behind few") {
  constexpr std::size_t kFew = 10'000;
  constexpr int kTimes = 8;
  const auto few = cost_of_links(kFew);
  CHECK(cost_of_links(kFew * kTimes) < few * kTimes * 3);
}

}  // namespace
}  // namespace whocall::test
