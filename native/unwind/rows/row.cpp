#include "unwind/rows/row.h"

#include <algorithm>

namespace whocall {
namespace {

std::string signed_text(std::int64_t value) {
  return (value < 0 ? "" : "+") + std::to_string(value);
}

std::string register_text(Register number, const Architecture& arch) {
  if (number < arch.registers.names.size() && !arch.registers.names[number].empty()) {
    return std::string(arch.registers.names[number]);
  }
  return "r" + std::to_string(number);
}

}  // namespace

const RegisterRule* UnwindRow::rule_for(Register number) const {
  const auto found = std::ranges::find(rules, number, &NamedRule::number);
  return found == rules.end() ? nullptr : &found->rule;
}

std::string to_string(const CfaRule& rule, const Architecture& arch) {
  switch (rule.kind) {
    case CfaRule::Kind::register_offset:
      return register_text(rule.base, arch) + signed_text(rule.offset);
    case CfaRule::Kind::expression:
      return "exp";
    case CfaRule::Kind::undefined:
      break;
  }
  return "u";
}

std::string to_string(const RegisterRule& rule, const Architecture& arch) {
  switch (rule.kind) {
    case RegisterRule::Kind::same_value:
      return "s";
    case RegisterRule::Kind::at_cfa:
      return "c" + signed_text(rule.offset);
    case RegisterRule::Kind::value_cfa:
      return "v" + signed_text(rule.offset);
    case RegisterRule::Kind::in_register:
      return register_text(rule.source, arch);
    case RegisterRule::Kind::at_expression:
      return "exp";
    case RegisterRule::Kind::value_expression:
      return "vexp";
    case RegisterRule::Kind::undefined:
      break;
  }
  return "u";
}

}  // namespace whocall
