// Rows as data: readelf's notation, and what applying one to memory gives.
#include "unwind/rows/row.h"

#include <doctest/doctest.h>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "memory/segment_memory.h"
#include "rules/dwarf.h"
#include "unwind/rows/apply_row.h"
#include "unwind_stack.h"

namespace whocall::test {
namespace {

constexpr Register kRbx = 3, kRbp = 6, kRsp = 7, kR12 = 12, kRax = 0, kRip = 16;

// rsp -> +0 saved rbx, +8 saved rbp, +16 return address, +24 the caller's.
struct Applied {
  AppliedRow operator()(const UnwindRow& row) const {
    return apply_row(row, callee(), kX86_64, SegmentMemory({{0x7000, bytes}}));
  }
  static Activation callee() {
    Activation activation;
    activation.pc = 0x401010;
    activation.registers.set(kRip, 0x401010);
    activation.registers.set(kRsp, 0x7000);
    activation.registers.set(kRbp, 0xb0b);
    activation.registers.set(kR12, 0x12);
    activation.registers.set(kRax, 0xa);
    return activation;
  }
  std::vector<std::byte> bytes =
      Stack(0x7000, kX86_64).word(0xb1).word(0xb2).word(0x401234).word(0x99).bytes();
};

UnwindRow usual_row() {
  UnwindRow row;
  row.cfa = CfaRule::at(kRsp, 24);
  row.return_address = kRip;
  row.rules = {{kRip, RegisterRule::stored_at_cfa(-8)}};
  return row;
}

TEST_CASE("row: the words that hold the caller's registers") {
  const Applied applied;
  const SegmentMemory memory({{0x7000, applied.bytes}});
  UnwindRow row = usual_row();
  const std::vector<std::byte> deeper{std::byte{0x23}, std::byte{0x08}};  // plus_uconst 8
  row.rules = {{kRbx, RegisterRule::stored_at_cfa(-24)},
               {kRbp, RegisterRule::stored_at(ByteView(deeper, Endian::little))},
               {kR12, RegisterRule::same()},
               {kRax, RegisterRule::cfa_plus(0)},
               {kRip, RegisterRule::stored_at_cfa(-8)}};
  const auto saved = saved_words(row, Applied::callee(), 0x7018, kX86_64, memory);
  REQUIRE(saved.size() == 3);
  CHECK(saved[0].number == kRbx);
  CHECK(saved[0].address == 0x7000);
  CHECK(saved[1].number == kRbp);
  CHECK(saved[1].address == 0x7020);
  CHECK(saved[2].number == kRip);
  CHECK(saved[2].address == 0x7010);
}

TEST_CASE("row: printed as readelf -wF prints it") {
  CHECK(to_string(CfaRule::at(7, 8), kX86_64) == "rsp+8");
  CHECK(to_string(CfaRule::at(7, -8), kX86_64) == "rsp-8");
  CHECK(to_string(CfaRule::at(5, 0), kI386) == "ebp+0");
  CHECK(to_string(CfaRule::at(40, 4), kX86_64) == "r40+4");  // between the named ones
  CHECK(to_string(CfaRule{}, kX86_64) == "u");
  CHECK(to_string(CfaRule{CfaRule::Kind::expression, 0, 0, {}}, kX86_64) == "exp");
  CHECK(to_string(RegisterRule::undefined(), kX86_64) == "u");
  CHECK(to_string(RegisterRule::same(), kX86_64) == "s");
  CHECK(to_string(RegisterRule::stored_at_cfa(-16), kX86_64) == "c-16");
  CHECK(to_string(RegisterRule::cfa_plus(8), kX86_64) == "v+8");
  CHECK(to_string(RegisterRule::from(12), kX86_64) == "r12");
  CHECK(to_string(RegisterRule::stored_at({}), kX86_64) == "exp");
  CHECK(to_string(RegisterRule::computed({}), kX86_64) == "vexp");
}

TEST_CASE("row: rules are found by register") {
  UnwindRow row = usual_row();
  CHECK(row.rule_for(kRip) == &row.rules[0].rule);
  CHECK(row.rule_for(kRbx) == nullptr);
}

TEST_CASE("apply row: the CFA becomes the caller's stack pointer, the return address its pc") {
  const AppliedRow result = Applied()(usual_row());
  CHECK(result.failure == ApplyFailure::none);
  CHECK(result.cfa == 0x7018);
  CHECK(result.caller.pc == 0x401234);
  CHECK_FALSE(result.caller.interrupted);
  CHECK(result.caller.lookup_pc() == 0x401233);
  CHECK(result.caller.registers.get(kRsp) == 0x7018U);
  CHECK(result.caller.registers.get(kRip) == 0x401234U);
}

TEST_CASE("apply row: calls preserve what the ABI says, and nothing else") {
  const AppliedRow result = Applied()(usual_row());
  CHECK(result.caller.registers.get(kRbp) == 0xb0bU);
  CHECK(result.caller.registers.get(kR12) == 0x12U);
  CHECK_FALSE(result.caller.registers.known(kRax));  // may have been changed
  CHECK_FALSE(result.caller.registers.known(kRbx));  // was not known
}

TEST_CASE("apply row: every kind of rule") {
  const Bytes at_rsp_8{dw::OP_breg0 + kRsp, 8};
  const Bytes cfa_minus_3{dw::OP_lit0 + 3, dw::OP_minus};
  UnwindRow row = usual_row();
  row.rules.push_back({kRbx, RegisterRule::stored_at_cfa(-24)});
  row.rules.push_back({kRbp, RegisterRule::stored_at(at_rsp_8.view())});
  row.rules.push_back({kR12, RegisterRule::undefined()});
  row.rules.push_back({13, RegisterRule::from(kRax)});
  row.rules.push_back({14, RegisterRule::cfa_plus(-4)});
  row.rules.push_back({15, RegisterRule::computed(cfa_minus_3.view())});
  row.rules.push_back({kRax, RegisterRule::same()});
  const Registers registers = Applied()(row).caller.registers;
  CHECK(registers.get(kRbx) == 0xb1U);
  CHECK(registers.get(kRbp) == 0xb2U);
  CHECK_FALSE(registers.known(kR12));
  CHECK(registers.get(13) == 0xaU);
  CHECK(registers.get(14) == 0x7014U);
  CHECK(registers.get(15) == 0x7015U);
  CHECK(registers.get(kRax) == 0xaU);
}

TEST_CASE("apply row: a rule for the stack pointer goes over the CFA") {
  UnwindRow row = usual_row();
  row.rules.push_back({kRsp, RegisterRule::cfa_plus(8)});
  const AppliedRow result = Applied()(row);
  CHECK(result.cfa == 0x7018);
  CHECK(result.caller.registers.get(kRsp) == 0x7020U);
}

TEST_CASE("apply row: a saved register that cannot be read is unknown, no failure") {
  UnwindRow row = usual_row();
  row.rules.push_back({kRbp, RegisterRule::stored_at_cfa(4096)});
  const AppliedRow result = Applied()(row);
  CHECK(result.failure == ApplyFailure::none);
  CHECK_FALSE(result.caller.registers.known(kRbp));
}

TEST_CASE("apply row: what is indispensable") {
  UnwindRow row = usual_row();
  row.cfa = CfaRule::at(kRbx, 8);  // not known
  CHECK(Applied()(row).failure == ApplyFailure::no_cfa);
  row.cfa = {};
  CHECK(Applied()(row).failure == ApplyFailure::no_cfa);
  row = usual_row();
  row.cfa = CfaRule::at(kRsp, 4096);
  CHECK(Applied()(row).failure == ApplyFailure::no_return_address);
  CHECK(Applied()(row).cfa == 0x8000);
  row = usual_row();
  row.rules[0].rule = RegisterRule::undefined();
  CHECK(Applied()(row).failure == ApplyFailure::outermost);
}

TEST_CASE("apply row: a signal frame's caller was interrupted") {
  UnwindRow row = usual_row();
  row.signal_frame = true;
  const AppliedRow result = Applied()(row);
  CHECK(result.caller.interrupted);
  CHECK(result.caller.lookup_pc() == 0x401234);
}

TEST_CASE("apply row: i386 wraps at 32 bits") {
  const std::vector<std::byte> low = Stack(0, kI386).word(0x8049005).word(7).bytes();
  const SegmentMemory memory({{0, low}});
  Activation callee;
  callee.registers.set(kI386.registers.sp, 0xfffffffc);
  UnwindRow row;
  row.cfa = CfaRule::at(kI386.registers.sp, 8);
  row.return_address = kI386.registers.return_address;
  row.rules = {{kI386.registers.return_address, RegisterRule::stored_at_cfa(-4)},
               {kI386.registers.fp, RegisterRule::cfa_plus(-8)}};
  const AppliedRow result = apply_row(row, callee, kI386, memory);
  CHECK(result.cfa == 4);
  CHECK(result.caller.pc == 0x8049005);
  CHECK(result.caller.registers.get(kI386.registers.fp) == 0xfffffffcU);
}

TEST_CASE("activation: where to look things up") {
  Activation activation;
  activation.pc = 0x401000;
  CHECK(activation.lookup_pc() == 0x400fff);
  activation.interrupted = true;
  CHECK(activation.lookup_pc() == 0x401000);
  activation = {};
  CHECK(activation.lookup_pc() == 0);  // not the top of the address space
}

}  // namespace
}  // namespace whocall::test
