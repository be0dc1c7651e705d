// Searching the stack: across gaps, past stale return addresses, and what evidence decides.
#include <doctest/doctest.h>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind_victim.h"

namespace whocall::test {
namespace {

constexpr AddressRange kOther{kThird, kThird + 0x100};

TestProcess blind_process(const Architecture& arch, Address called_by_caller) {
  TestProcess process = victim(arch, kOther.size(), true);
  process.call(kCaller.begin + 0x20, called_by_caller);
  process.call(kMain.begin + 0x20, kCaller.begin);
  process.call(kOther.begin + 0x20, kMain.begin);  // it did call, but somebody else
  return process;
}

// sp stands in the blind function; the frames of kCaller and kMain lie `gap` words up.
Stack gap_stack(const Architecture& arch, std::size_t gap, std::uint64_t filler) {
  Stack stack(kStack, arch);
  stack.mark("sp").words(gap, filler);
  stack.word(kCaller.begin + 0x20).mark("caller sp").words(2, 0x2222);
  stack.word(kMain.begin + 0x20).mark("main sp").words(2, 0x3333);
  return stack.word(0).words(8, 0);
}

TEST_CASE("scan: finds the caller across a gap, and unwind tables go on from there") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    CAPTURE(std::string(arch->name));
    const bool wide = arch->abi.pointer_size == 8;
    TestProcess process = blind_process(*arch, kBlind);
    const Stack stack = gap_stack(*arch, 37, 0x1111);
    process.stack(stack);
    const auto trace = process.walk(
        {{wide ? "rip" : "eip", kBlind}, {wide ? "rsp" : "esp", kStack}}, only({"cfi", "scan"}));
    CHECK(pcs(trace) == "0x402000 0x401120 0x401020");
    CHECK(trusts(trace) == "context scan cfi");
    REQUIRE(trace.frames.size() == 3);
    CHECK(trace.frames[1].sp == stack.at("caller sp"));
    CHECK(trace.frames[2].sp == stack.at("main sp"));
    CHECK(trace.stop.reason == StopReason::end_of_stack);
  }
}

TEST_CASE("scan: words that are no return addresses are passed over") {
  // Into the middle of code (no call before), into data, just beyond code, odd text.
  for (const std::uint64_t word : {kCaller.begin + 0x55, kStack + 8, kCode + 0x3000,
                                   Address{0x4141414141414141}, Address{1}}) {
    CAPTURE(word);
    TestProcess process = blind_process(kX86_64, kBlind);
    process.stack(gap_stack(kX86_64, 10, word));
    const auto trace = process.walk({{"rip", kBlind}, {"rsp", kStack}}, only({"cfi", "scan"}));
    CHECK(pcs(trace) == "0x402000 0x401120 0x401020");
  }
}

TEST_CASE("scan: a call that goes to the function below wins over stale returns before it") {
  // kOther's return address follows a call as well, but that call went to kMain.
  TestProcess process = blind_process(kX86_64, kBlind);
  process.stack(gap_stack(kX86_64, 10, kOther.begin + 0x20));
  const auto trace = process.walk({{"rip", kBlind}, {"rsp", kStack}}, only({"cfi", "scan"}));
  CHECK(pcs(trace) == "0x402000 0x401120 0x401020");
  REQUIRE(trace.frames.size() == 3);
  CHECK(trace.frames[1].evidence.has(Evidence::call_target));
}

TEST_CASE("scan: so it does when the call goes through a PLT slot") {
  constexpr Address kPlt = kCode + 0x800, kGot = 0x600000;
  TestProcess process = blind_process(kX86_64, kPlt);
  process.put(kPlt, Bytes{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25}.u32(kGot - (kPlt + 10)));
  process.map(kGot, Bytes().u64(kBlind).get(), "rw-");
  process.stack(gap_stack(kX86_64, 10, kOther.begin + 0x20));
  const auto trace = process.walk({{"rip", kBlind}, {"rsp", kStack}}, only({"cfi", "scan"}));
  CHECK(pcs(trace) == "0x402000 0x401120 0x401020");
  REQUIRE(trace.frames.size() == 3);
  CHECK(trace.frames[1].evidence.has(Evidence::call_target));
}

TEST_CASE("scan: without knowing what was called, the caller that goes on wins") {
  // The blind function is entered at an unknown place; the stale frames lead nowhere.
  TestProcess process = blind_process(kX86_64, kBlind);
  process.stack(gap_stack(kX86_64, 10, kOther.begin + 0x20));
  const auto trace = process.walk({{"rip", kBlind + 0x33}, {"rsp", kStack}}, only({"cfi", "scan"}));
  CHECK(trace.frames.size() >= 3);
  CHECK(contains(pcs(trace), "0x401120 0x401020"));
}

TEST_CASE("scan: nothing to find is a reason, not a frame") {
  TestProcess process = blind_process(kX86_64, kBlind);
  Stack stack(kStack, kX86_64);
  process.stack(stack.words(200, 0x1111));
  const auto trace = process.walk({{"rip", kBlind}, {"rsp", kStack}});
  CHECK(trace.frames.size() == 1);
  CHECK(trace.stop.reason == StopReason::no_caller);
  CHECK(contains(trace.stop.detail, "no acceptable caller of 0x402000"));
}

TEST_CASE("scan: a stack pointer outside of all memory") {
  TestProcess process = blind_process(kX86_64, kBlind);
  for (const Address sp : {Address{0}, Address{0x10}, kStack, ~Address{0}, ~Address{7}}) {
    CAPTURE(sp);
    const auto trace = process.walk({{"rip", kBlind}, {"rsp", sp}});
    CHECK(trace.frames.size() == 1);
    CHECK(trace.stop.reason == StopReason::unreadable);
    CHECK(contains(trace.stop.detail, hex(sp)));
  }
}

TEST_CASE("scan: an odd stack pointer is rounded up, not down") {
  TestProcess process = blind_process(kX86_64, kBlind);
  Stack stack(kStack, kX86_64);
  stack.word(kOther.begin + 0x20).word(0x1111);
  stack.word(kCaller.begin + 0x20).words(2, 0x2222).word(kMain.begin + 0x20).words(2, 0).word(0);
  process.stack(stack.words(4, 0));
  const auto trace = process.walk({{"rip", kBlind}, {"rsp", kStack + 3}}, only({"cfi", "scan"}));
  CHECK(pcs(trace) == "0x402000 0x401120 0x401020");
}

TEST_CASE("scan: says how far it went and what would make it surer") {
  TestProcess process = blind_process(kX86_64, kBlind);
  process.stack(gap_stack(kX86_64, 37, 0x1111));
  WalkOptions options = only({"cfi", "scan"});
  options.explain = true;
  const auto trace = process.walk({{"rip", kBlind}, {"rsp", kStack}}, options);
  REQUIRE(trace.frames.size() == 3);
  const std::string& text = trace.details[1].explanation;
  CAPTURE(text);
  CHECK(contains(text, "296 bytes up"));
  CHECK(contains(text, "the call before it goes to the function below"));
  CHECK(contains(text, "no unwind table covers the frame below"));
  CHECK(contains(text, "would make it surer."));
}

TEST_CASE("scan: a table that was not asked is not called missing") {
  TestProcess process = blind_process(kX86_64, kBlind);
  process.stack(gap_stack(kX86_64, 37, 0x1111));
  WalkOptions options = only({"scan"});
  options.explain = true;
  const auto trace = process.walk({{"rip", kCaller.begin + 0x20}, {"rsp", kStack}}, options);
  REQUIRE(trace.frames.size() > 1);
  const std::string& text = trace.details[1].explanation;
  CAPTURE(text);
  CHECK(contains(text, "the unwind table of the frame below was not asked"));
  CHECK_FALSE(contains(text, "would make it surer"));
}

}  // namespace
}  // namespace whocall::test
