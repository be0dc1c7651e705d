// Call frame instructions that few write: the walker's rows and the rule that a process finds of
// itself say one thing, which is what readelf and elfutils say.
#include <doctest/doctest.h>

#include <string>

#include "rules/cfi_interpreter.h"
#include "rules/cfi_rule.h"
#include "unwind_cfi_text.h"

namespace whocall::test {
namespace {

constexpr rules::FrameRegisters kX86{.sp = 7, .fp = 6};

// The row that holds at an address, as text_of() writes it, without where it begins.
std::string row_at(const Fde& fde, Address address) {
  for (const UnwindRow& row : compile(fde)) {
    if (row.range.contains(address)) {
      const std::string text = text_of(row);
      return text.substr(text.find(' ') + 1);
    }
  }
  return "none";
}

// A rule in the same words.
std::string text_of(const rules::FrameRule& rule) {
  using Rule = rules::FrameRule;
  if (rule.cfa == Rule::Cfa::none) {
    return "none";
  }
  const RegisterRule ret = RegisterRule::stored_at_cfa(rule.return_slot);
  const RegisterRule fp = RegisterRule::stored_at_cfa(rule.fp_slot);
  const Register base = rule.cfa == Rule::Cfa::from_sp ? 7 : 6;
  return to_string(CfaRule::at(base, rule.cfa_offset), kX86_64) +
         (rule.fp == Rule::Fp::stored ? " rbp=" + to_string(fp, kX86_64) : "") +
         (rule.ret == Rule::Return::stored ? " rip=" + to_string(ret, kX86_64) : "");
}

struct Told {
  std::string row;
  std::string rule;
  friend bool operator==(const Told&, const Told&) = default;
};

doctest::String toString(const Told& told) {
  return ("row " + told.row + ", rule " + told.rule).c_str();
}

// What both say of an address in kFunction.
Told told(const Bytes& cie_program, const Bytes& program, Address address) {
  rules::WholeDescription whole;
  whole.cie.data_alignment = -8;
  whole.cie.return_address = 16;
  whole.cie.instructions = span_of(cie_program.view(), 0);
  whole.fde.begin = kFunction.begin;
  whole.fde.end = kFunction.end;
  whole.fde.instructions = span_of(program.view(), 0x5000);
  const Fde fde{kFunction, &whole.cie, whole.fde.instructions};
  return {row_at(fde, address), text_of(rules::rule_at(whole, kX86, address))};
}

Told told(const Bytes& program, Address address) { return told(usual_cie(), program, address); }

Told both(const std::string& text) { return {text, text}; }

const Bytes kByExpression{dw::CFA_def_cfa_expression, 3, dw::OP_breg0 + 7, 0x10, dw::OP_deref};

}  // namespace

// libgcrypt's assembly does so: an expression while the stack is aligned, then the register again.
TEST_CASE("same program: a register behind an expression has the offset stated last") {
  Bytes program{dw::CFA_def_cfa_offset, 56, dw::CFA_advance_loc | 4U};
  program.append(kByExpression).append({dw::CFA_advance_loc | 4U, dw::CFA_def_cfa_register, 7});
  CHECK(told(program, 0x1003) == both("rsp+56 rip=c-8"));
  CHECK(told(program, 0x1007) == Told{"exp rip=c-8", "none"});
  CHECK(told(program, 0x1008) == both("rsp+56 rip=c-8"));
}

TEST_CASE("same program: an offset behind an expression waits for a register") {
  Bytes program = kByExpression;
  program.append({dw::CFA_def_cfa_offset, 48, dw::CFA_advance_loc | 4U});
  program.append({dw::CFA_def_cfa_register, 6});
  CHECK(told(program, 0x1000) == Told{"exp rip=c-8", "none"});
  CHECK(told(program, 0x1004) == both("rbp+48 rip=c-8"));
}

TEST_CASE("same program: an offset from no register is no CFA") {
  const Bytes program{dw::CFA_def_cfa_offset, 16};
  CHECK(told({dw::CFA_offset | 16U, 1}, program, 0x1000) == Told{"u rip=c-8", "none"});
}

TEST_CASE("same program: an expression of no bytes, and one of many, are no register") {
  CHECK(told({dw::CFA_def_cfa_expression, 0}, 0x1000) == Told{"exp rip=c-8", "none"});
  const Bytes nops = Bytes().fill(300, dw::OP_nop);
  CHECK(told(Bytes{dw::CFA_def_cfa_expression}.uleb(nops.size()).append(nops), 0x1000) ==
        Told{"exp rip=c-8", "none"});
}

TEST_CASE("same program: every way to advance") {
  const Bytes behind{dw::CFA_def_cfa_offset, 16};
  const Bytes eight = Bytes{dw::CFA_MIPS_advance_loc8}.u64(0x80).append(behind);
  CHECK(told(eight, 0x107f) == both("rsp+8 rip=c-8"));
  CHECK(told(eight, 0x1080) == both("rsp+16 rip=c-8"));
  const Bytes set = Bytes{dw::CFA_set_loc}.u64(0x1040).append(behind);
  CHECK(told(set, 0x103f) == both("rsp+8 rip=c-8"));
  CHECK(told(set, 0x1040) == both("rsp+16 rip=c-8"));
}

TEST_CASE("same program: nothing leads back") {
  const Bytes behind{dw::CFA_def_cfa_offset, 16};
  const Bytes around = Bytes{dw::CFA_MIPS_advance_loc8}.u64(~std::uint64_t{0}).append(behind);
  CHECK(told(around, 0x1000) == both("rsp+16 rip=c-8"));
  const Bytes back = Bytes{dw::CFA_set_loc}.u64(0x400).append(behind);
  CHECK(told(back, 0x1000) == both("rsp+16 rip=c-8"));
}

TEST_CASE("same program: where a CIE's own instructions lead does not matter") {
  Bytes cie = usual_cie();
  cie.append({dw::CFA_advance_loc | 0x20U, dw::CFA_def_cfa_offset, 24});
  const Bytes program{dw::CFA_advance_loc | 0x10U, dw::CFA_def_cfa_offset, 32};
  CHECK(told(cie, program, 0x1000) == both("rsp+24 rip=c-8"));
  CHECK(told(cie, program, 0x1010) == both("rsp+32 rip=c-8"));
}

TEST_CASE("same program: rows are remembered to one depth") {
  const auto nested = [](std::size_t depth) {
    Bytes program;
    for (std::size_t i = 0; i < depth; ++i) {
      program.append({dw::CFA_remember_state, dw::CFA_def_cfa_offset});
      program.uleb(16 + 8 * i);
    }
    program.fill(depth, dw::CFA_restore_state);
    return program.append({dw::CFA_offset | 6U, 2});
  };
  CHECK(told(nested(2), 0x1000) == both("rsp+8 rbp=c-16 rip=c-8"));
  CHECK(told(nested(20), 0x1000) == both("rsp+8 rbp=c-16 rip=c-8"));
  CHECK(told(nested(rules::kMostRemembered), 0x1000) == both("rsp+8 rbp=c-16 rip=c-8"));
  CHECK(told(nested(rules::kMostRemembered + 1), 0x1000) == both("none"));
}

TEST_CASE("same program: nothing is believed of a row in which the damage lies") {
  const Bytes damaged{dw::CFA_advance_loc | 4U, dw::CFA_def_cfa_offset, 16, 0x3f};
  CHECK(told(damaged, 0x1003) == both("rsp+8 rip=c-8"));
  CHECK(told(damaged, 0x1004) == both("none"));
}

}  // namespace whocall::test
