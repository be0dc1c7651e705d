// Walking by unwind tables: the whole way from a module's bytes to frames.
#include <doctest/doctest.h>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kBias = 0x7f0000000000;
constexpr Address kStack = 0x7ffc0000;
constexpr AddressRange kCode{0x1000, 0x2000};  // link addresses
constexpr AddressRange kInner{0x1000, 0x1010};
constexpr AddressRange kOuter{0x1010, 0x1100};
constexpr AddressRange kThird{0x1100, 0x1200};

// kInner calls as its very last instruction and never comes back there.
TestProcess noreturn_process(const Architecture& arch, Address bias) {
  FrameTable table(arch);
  const auto cie = table.usual_cie();
  table.fde(cie, kInner, Bytes{0x0e}.uleb(2U * arch.abi.pointer_size));
  table.fde(cie, kOuter, Bytes{0x0e}.uleb(5U * arch.abi.pointer_size));
  table.fde(cie, kThird);
  TestProcess process(arch);
  process.code(kCode.begin + bias, kCode.size());
  process.module("/lib/libthrow.so", {kCode, 0, table.bytes()}, false, bias);
  process.call(kInner.end + bias, kThird.begin + bias);
  process.call(kOuter.begin + 0x20 + bias, kInner.begin + bias);
  return process;
}

void check_noreturn(const Architecture& arch, Address bias, std::string_view pc,
                    std::string_view sp) {
  TestProcess process = noreturn_process(arch, bias);
  Stack stack(kStack, arch);
  stack.word(kInner.end + bias).mark("inner sp").word(0x1111);
  stack.word(kOuter.begin + 0x20 + bias).mark("outer sp").words(4, 0x2222).word(0).words(4, 0);
  process.stack(stack);
  const auto trace = process.walk({{pc, kThird.begin + 4 + bias}, {sp, kStack}}, only({"cfi"}));
  REQUIRE(trace.frames.size() == 3);
  CHECK(pcs(trace) == hex(kThird.begin + 4 + bias) + " " + hex(kInner.end + bias) + " " +
                          hex(kOuter.begin + 0x20 + bias));
  // The return address lies in kOuter already; kInner's row must be taken: distance 16, not 40.
  CHECK(trace.frames[1].lookup_pc() == kInner.end - 1 + bias);
  CHECK(trace.frames[1].sp == stack.at("inner sp"));
  CHECK(trace.frames[1].cfa == stack.at("outer sp"));
  CHECK(trusts(trace) == "context cfi cfi");
  CHECK(trace.frames[1].evidence.has(Evidence::call_target));
  CHECK(trace.stop.reason == StopReason::end_of_stack);
}

TEST_CASE("cfi walk: a noreturn call at a function's end is looked up inside the call") {
  check_noreturn(kX86_64, 0, "rip", "rsp");
  check_noreturn(kX86_64, kBias, "rip", "rsp");
  check_noreturn(kI386, 0x8048000, "eip", "esp");
}

TEST_CASE("cfi walk: a mark in the tables makes the frame above an interrupted one, no signal") {
  FrameTable table(kX86_64);
  const auto usual = table.usual_cie();
  table.fde(usual, kInner);
  const auto signal = table.cie(Bytes{0x0c, 7, 16, 0x90, 1}, "zS");  // CFA = rsp+16
  table.signal_fde(signal, kOuter);
  TestProcess process(kX86_64);
  process.code(kCode.begin, kCode.size());
  process.module("[vdso]", {kCode, 0, table.bytes()});
  Stack stack(kStack, kX86_64);
  stack.word(kOuter.begin + 1).word(0x1111).word(kThird.begin).words(8, 0);
  process.stack(stack);
  const auto trace = process.walk({{"rip", kInner.begin}, {"rsp", kStack}}, only({"cfi"}));
  CHECK(pcs(trace) == "0x1000 0x1011 0x1100");
  REQUIRE(trace.frames.size() == 3);
  CHECK_FALSE(trace.frames[1].signal_trampoline);  // the code there is no trampoline's
  CHECK(trace.frames[2].interrupted);
  CHECK(trace.frames[2].trust == Trust::cfi);  // that the kernel wrote it cannot be checked here
  CHECK(trace.frames[2].lookup_pc() == kThird.begin);
}

TEST_CASE("cfi walk: tables are believed where no call stands before the return address") {
  TestProcess process = noreturn_process(kX86_64, 0);
  Stack stack(kStack, kX86_64);
  stack.word(kOuter.begin + 0x80).words(4, 0x2222).word(0).words(4, 0);
  process.stack(stack);
  const auto trace = process.walk({{"rip", kThird.begin}, {"rsp", kStack}}, only({"cfi"}));
  CHECK(pcs(trace) == "0x1100 0x1090");
  CHECK_FALSE(trace.frames[1].evidence.has(Evidence::call_before));
}

TEST_CASE("cfi walk: an undefined return address ends the stack") {
  FrameTable table(kX86_64);
  const auto cie = table.usual_cie();
  table.fde(cie, kInner, {0x07, 16});  // DW_CFA_undefined rip
  TestProcess process(kX86_64);
  process.code(kCode.begin, kCode.size());
  process.module("/bin/start", {kCode, 0, table.bytes()}, true);
  Stack stack(kStack, kX86_64);
  stack.word(kThird.begin).words(8, 0);
  process.stack(stack);
  const auto trace = process.walk({{"rip", kInner.begin}, {"rsp", kStack}});
  CHECK(trace.frames.size() == 1);
  CHECK(trace.stop.reason == StopReason::end_of_stack);
  CHECK(trace.stop.detail == "the unwind tables say that nothing called it");
}

TEST_CASE("cfi walk: the entry point without tables ends the stack by its name") {
  TestProcess process(kX86_64);
  process.code(kCode.begin, kCode.size());
  process.module("/bin/prog", {kCode, kThird.begin, {}}, true);
  Stack stack(kStack, kX86_64);
  stack.word(1).words(8, 0);
  process.stack(stack);
  const auto trace = process.walk({{"rip", kThird.begin + 0x25}, {"rsp", kStack}});
  CHECK(trace.frames.size() == 1);
  CHECK(trace.stop.reason == StopReason::end_of_stack);
  CHECK(trace.stop.detail == "the entry point of /bin/prog");
}

TEST_CASE("cfi walk: the explanation shows the row") {
  TestProcess process = noreturn_process(kX86_64, 0);
  Stack stack(kStack, kX86_64);
  stack.word(kInner.end).word(0).word(0).words(8, 0);
  process.stack(stack);
  WalkOptions options = only({"cfi"});
  options.explain = true;
  const auto trace = process.walk({{"rip", kThird.begin}, {"rsp", kStack}}, options);
  REQUIRE(trace.frames.size() >= 2);
  CHECK(trace.details[0].explanation == "the thread's own registers.");
  CHECK(trace.details[1].explanation ==
        "the .debug_frame row of /lib/libthrow.so (CFA rsp+8, return address c-8) leads to it; "
        "the call before it goes to the function below.");
}

TEST_CASE("cfi tables: rows and functions at runtime addresses") {
  const TestProcess process = noreturn_process(kX86_64, kBias);
  const auto image = process.image();
  CfiTables tables(*image);
  const auto row = tables.row_at(kOuter.begin + kBias);
  REQUIRE(row.has_value());
  CHECK(row->row->cfa.offset == 40);
  CHECK(row->row->range == kOuter);  // link addresses
  CHECK(row->owner == image->modules[0].path);
  CHECK(tables.row_at(kOuter.begin + kBias)->row == row->row);  // from the cache
  CHECK_FALSE(tables.row_at(kThird.end + kBias).has_value());
  CHECK_FALSE(tables.row_at(kOuter.begin).has_value());
  CHECK_FALSE(tables.row_at(0).has_value());
  CHECK_FALSE(tables.row_at(~Address{0}).has_value());
  CHECK(tables.function_at(kInner.end - 1 + kBias) ==
        AddressRange{kInner.begin + kBias, kInner.end + kBias});
  CHECK_FALSE(tables.function_at(kThird.end + kBias).has_value());
}

}  // namespace
}  // namespace whocall::test
