// What the analysis says of code that no path leads to, and what the audit makes of it.
#include <doctest/doctest.h>

#include <string>

#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"
#include "unwind/analysis/function_analysis.h"
#include "unwind/audit/row_equivalence.h"

namespace whocall::test {
namespace {

constexpr Address kAt = 0x401000;

// The CFA by our row at each instruction from `offset` on; "-" where there is none. What delimits
// the function ends with `delimited`; its code as far as no other start is known.
std::string cfas(const Bytes& code, std::uint64_t offset, std::uint64_t delimited) {
  const auto decoder = decoder_for(kX86_64);
  FunctionCode function{.code = code.view(), .address = kAt};
  function.delimited = delimited;
  std::string found;
  std::deque<std::vector<std::byte>> arena;
  for (const AnalysedPoint& point : follow_function(function, kX86_64, *decoder).points) {
    if (point.range.begin >= kAt + offset) {
      const auto row = point.row(arena);
      found += (found.empty() ? "" : " ") + (row ? to_string(row->cfa, kX86_64) : "-");
    }
  }
  return found;
}

std::string cfas(const Bytes& code, std::uint64_t offset) {
  return cfas(code, offset, code.size());
}

// sub $40,%rsp; nop; nop; nop; add $40,%rsp; ret; int3 four times; then what nobody calls directly:
// sub $24,%rsp; add $24,%rsp; ret
TEST_CASE("guesses: a function hides behind what a symbol delimits, and in it none") {
  const Bytes code{0x48, 0x83, 0xec, 0x28, 0x90, 0x90, 0x90, 0x48, 0x83, 0xc4, 0x28, 0xc3, 0xcc,
                   0xcc, 0xcc, 0xcc, 0x48, 0x83, 0xec, 0x18, 0x48, 0x83, 0xc4, 0x18, 0xc3};
  CHECK(cfas(code, 16, 12) == "rsp+8 rsp+32 rsp+8");
  CHECK(cfas(code, 16, code.size()) == "rsp+48 rsp+72 rsp+48");
  CHECK(cfas(code, 16, 0) == "rsp+8 rsp+32 rsp+8");
}

// push %rbx; jmp *(%rax,%rdi,8); xor %eax,%eax; pop %rbx; ret
TEST_CASE("guesses: the target of a jump runs as deep as the jump") {
  CHECK(cfas({0x53, 0xff, 0x24, 0xf8, 0x31, 0xc0, 0x5b, 0xc3}, 4) == "rsp+16 rsp+16 rsp+8");
}

TEST_CASE("guesses: jumps that disagree leave their targets without a row") {
  // test %edi,%edi; push %rbx; je 1f; jmp *(%rax,%rdi,8); 1: push %rax; jmp *(%rax,%rdi,8);
  // xor %eax,%eax; ret
  CHECK(cfas({0x85, 0xff, 0x53, 0x74, 0x03, 0xff, 0x24, 0xf8, 0x50, 0xff, 0x24, 0xf8, 0x31, 0xc0,
              0xc3},
             12) == "- -");
}

TEST_CASE("guesses: a jump whose depth is not known takes it from the targets of all") {
  // push %rbp; mov %rsp,%rbp; call; call; sub %rax,%rsp; jmp *(%rdx,%rdi,8); xor %eax,%eax; leave
  CHECK(cfas({0x55, 0x48, 0x89, 0xe5, 0xe8, 0,    0x10, 0,    0,    0xe8, 0,   0x10,
              0,    0,    0x48, 0x29, 0xc4, 0xff, 0x24, 0xfa, 0x31, 0xc0, 0xc9},
             20) == "rbp+16 rbp+16");
  // The first target lowers the stack pointer by who knows what, and jumps to the second.
  CHECK(cfas({0x55, 0x48, 0x89, 0xe5, 0xff, 0x24, 0xfa, 0x48, 0x29, 0xc4, 0xff, 0x24, 0xfa, 0x31,
              0xc0, 0xc9},
             13) == "rbp+16 rbp+16");
}

TEST_CASE("guesses: tail calls do not disagree with switches") {
  // test %edi,%edi; je 1f; push %rbx; jmp *(%rax,%rdi,8); 1: jmp *%rax; xor %eax,%eax; pop %rbx
  CHECK(cfas({0x85, 0xff, 0x74, 0x04, 0x53, 0xff, 0x24, 0xf8, 0xff, 0xe0, 0x31, 0xc0, 0x5b}, 10) ==
        "rsp+16 rsp+16");
}

TEST_CASE("guesses: a switch before the function pushes anything disagrees with one behind that") {
  // add %rcx,%rax; jmp *%rax; push %rbx; jmp *(%rax,%rdi,8); xor %eax,%eax; ret
  CHECK(cfas({0x48, 0x01, 0xc8, 0xff, 0xe0, 0x53, 0xff, 0x24, 0xf8, 0x31, 0xc0, 0xc3}, 9) == "- -");
}

// Cold parts of two functions, one behind the other: call abort; call abort. They are entered
// equally deep, and with other registers saved in the same place.
TEST_CASE("guesses: behind a call that never returns another entry saves otherwise") {
  constexpr Register kRbx = 3;
  constexpr Register kRbp = 6;
  constexpr Register kRsp = 7;
  const auto entered = [](Address at, Register saved) {
    AbstractState state(kX86_64);
    state.apply({Effect::Kind::set, kRsp, kRsp, -8});
    state.apply({Effect::Kind::store, kRsp, saved, 0});
    state.apply({Effect::Kind::clobber, saved});
    return FunctionExit{at, state};
  };
  const Bytes code{0xe8, 0, 0x10, 0, 0, 0xe8, 0xfb, 0x0f, 0, 0};
  const auto decoder = decoder_for(kX86_64);
  FunctionCode function{.code = code.view(), .address = kAt};
  function.entries = {entered(kAt, kRbx), entered(kAt + 5, kRbp)};
  function.never_returns = [](Address target) { return target == kAt + 0x1005; };
  const auto points = follow_function(function, kX86_64, *decoder).points;
  REQUIRE(points.size() == 2);
  std::deque<std::vector<std::byte>> arena;
  const auto row = points[1].row(arena);
  REQUIRE(row.has_value());
  const RegisterRule* const rule = row->rule_for(kRbp);
  REQUIRE(rule != nullptr);
  CHECK(rule->kind == RegisterRule::Kind::at_cfa);
  CHECK(rule->offset == -16);
}

TEST_CASE("guesses: a table that tells the frame by another register does not confirm them") {
  AbstractState state(kX86_64);
  state.apply({Effect::Kind::set, 7, 7, -16});
  state.apply({Effect::Kind::set, 6, 7, 0});
  UnwindRow table;
  table.cfa = CfaRule::at(6, 24);
  table.return_address = kX86_64.registers.return_address;
  table.rules.push_back({kX86_64.registers.return_address, RegisterRule::stored_at_cfa(-8)});
  CHECK(compare_with_table(state, table, kAt, kX86_64) <= AuditOutcome::registers_differ);
  CHECK(compare_with_table(state, table, kAt, kX86_64, {.guessed = true}) ==
        AuditOutcome::cfa_differs);
}

}  // namespace
}  // namespace whocall::test
