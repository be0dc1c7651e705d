// Unwinding rules as data: how to get from one activation to its caller's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

// How the canonical frame address is computed: register + offset, or a DWARF expression.
struct CfaRule {
  enum class Kind : std::uint8_t { undefined, register_offset, expression };
  Kind kind = Kind::undefined;
  Register base = 0;
  std::int64_t offset = 0;  // bytes
  ByteView expression{};    // a view into the unwind section

  static CfaRule at(Register base, std::int64_t offset) {
    return {Kind::register_offset, base, offset, {}};
  }
};

// How the caller's value of one register is found. The kinds are those of DWARF 5, section 6.4.1.
struct RegisterRule {
  enum class Kind : std::uint8_t {
    undefined,        // cannot be recovered; for the return address: the end of the stack
    same_value,       // not touched by this frame
    at_cfa,           // stored at CFA + offset
    value_cfa,        // is CFA + offset
    in_register,      // is in another register
    at_expression,    // stored at the address that the expression computes
    value_expression  // is what the expression computes
  };
  Kind kind = Kind::undefined;
  Register source = 0;      // in_register
  std::int64_t offset = 0;  // bytes: at_cfa, value_cfa
  ByteView expression{};

  static RegisterRule undefined() { return {}; }
  static RegisterRule same() { return {Kind::same_value, 0, 0, {}}; }
  static RegisterRule stored_at_cfa(std::int64_t offset) { return {Kind::at_cfa, 0, offset, {}}; }
  static RegisterRule cfa_plus(std::int64_t offset) { return {Kind::value_cfa, 0, offset, {}}; }
  static RegisterRule from(Register source) { return {Kind::in_register, source, 0, {}}; }
  static RegisterRule stored_at(ByteView expression) {
    return {Kind::at_expression, 0, 0, expression};
  }
  static RegisterRule computed(ByteView expression) {
    return {Kind::value_expression, 0, 0, expression};
  }
};

struct NamedRule {
  Register number = 0;
  RegisterRule rule;
};

// The rules in force over `range` (link addresses of the module for CFI; the meaning is the
// finder's). Registers without a rule keep their value when the ABI says that calls preserve them
// and are unknown in the caller otherwise; the stack pointer without a rule becomes the CFA.
struct UnwindRow {
  AddressRange range;
  CfaRule cfa;
  Register return_address = 0;  // the column
  bool signal_frame = false;    // the caller was interrupted, not calling: look up pc, not pc - 1
  std::vector<NamedRule> rules;
  // A signal handler made the caller look as if it had called: it stands at an instruction that did
  // not run, without the kernel's frame in between.
  bool injected = false;
  bool new_stack = false;  // the caller runs on another stack, which may lie below or right beside

  [[nodiscard]] const RegisterRule* rule_for(Register number) const;
};

// In readelf's notation: "rsp+8", "exp", "u"; "c-16", "v+8", "s", "u", "r12" (a register's name),
// "exp", "vexp".
std::string to_string(const CfaRule& rule, const Architecture& arch);
std::string to_string(const RegisterRule& rule, const Architecture& arch);

}  // namespace whocall
