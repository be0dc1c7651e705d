#include "unwind/rows/apply_row.h"

#include <algorithm>

#include "unwind/rows/expression.h"

namespace whocall {
namespace {

std::optional<Address> canonical_frame_address(const CfaRule& rule, const Activation& callee,
                                               const Architecture& arch, const Memory& memory) {
  switch (rule.kind) {
    case CfaRule::Kind::register_offset: {
      const auto base = callee.registers.get(rule.base);
      return base ? std::optional((*base + static_cast<Address>(rule.offset)) & arch.address_mask())
                  : std::nullopt;
    }
    case CfaRule::Kind::expression:
      return evaluate(rule.expression, {arch, callee.registers, memory, std::nullopt});
    case CfaRule::Kind::undefined:
      break;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> register_value(Register number, const RegisterRule& rule, Address cfa,
                                            const Activation& callee, const Architecture& arch,
                                            const Memory& memory) {
  const auto word_at = [&](Address address) {
    return memory.read_unsigned(address & arch.address_mask(), arch.registers.size,
                                arch.abi.endian);
  };
  const auto computed = [&] {
    return evaluate(rule.expression, {arch, callee.registers, memory, cfa});
  };
  switch (rule.kind) {
    case RegisterRule::Kind::same_value:
      return callee.registers.get(number);
    case RegisterRule::Kind::at_cfa:
      return word_at(cfa + static_cast<Address>(rule.offset));
    case RegisterRule::Kind::value_cfa:
      return (cfa + static_cast<Address>(rule.offset)) & arch.address_mask();
    case RegisterRule::Kind::in_register:
      return callee.registers.get(rule.source);
    case RegisterRule::Kind::at_expression: {
      const auto address = computed();
      return address ? word_at(*address) : std::nullopt;
    }
    case RegisterRule::Kind::value_expression:
      return computed();
    case RegisterRule::Kind::undefined:
      break;
  }
  return std::nullopt;
}

Registers preserved_by_calls(const Registers& registers, const Architecture& arch) {
  Registers kept;
  for (const Register number : arch.registers.callee_saved) {
    if (const auto value = registers.get(number)) {
      kept.set(number, *value);
    }
  }
  const auto thread =
      arch.registers.thread_pointer ? registers.get(*arch.registers.thread_pointer) : std::nullopt;
  if (thread) {
    kept.set(*arch.registers.thread_pointer, *thread);
  }
  return kept;
}

}  // namespace

AppliedRow apply_row(const UnwindRow& row, const Activation& callee, const Architecture& arch,
                     const Memory& memory) {
  AppliedRow result;
  const auto cfa = canonical_frame_address(row.cfa, callee, arch, memory);
  if (!cfa) {
    result.failure = ApplyFailure::no_cfa;
    return result;
  }
  result.cfa = *cfa;
  Registers registers = preserved_by_calls(callee.registers, arch);
  const auto sp = *cfa + static_cast<Address>(arch.frame.sp_from_cfa());
  registers.set(arch.registers.sp, sp & arch.address_mask());
  // Without a rule the return address is where the callee found it: in the link register, as long
  // as it has called nobody. An instruction set without one has no such place.
  std::optional<std::uint64_t> return_address;
  if (arch.registers.link) {
    return_address = callee.registers.get(row.return_address);
  }
  for (const NamedRule& named : row.rules) {
    auto value = register_value(named.number, named.rule, *cfa, callee, arch, memory);
    if (named.number == row.return_address) {
      // That it stays where it was says nothing there: the caller's pc would be the callee's own.
      if (named.rule.kind == RegisterRule::Kind::same_value && !arch.registers.link) {
        value.reset();
      }
      return_address = value;
      if (named.rule.kind == RegisterRule::Kind::undefined) {
        result.failure = ApplyFailure::outermost;
        return result;
      }
    }
    value ? registers.set(named.number, *value) : registers.forget(named.number);
  }
  if (!return_address) {
    result.failure = ApplyFailure::no_return_address;
    return result;
  }
  // The caller has called, which is what left the return address in the link register: what was
  // there before is gone, unless the caller was interrupted.
  const bool interrupted = row.signal_frame || row.injected;
  if (arch.registers.link && !interrupted) {
    registers.forget(*arch.registers.link);
  }
  if (const auto& mode = arch.registers.mode; mode && !interrupted) {
    const std::uint64_t status = callee.registers.get(mode->status).value_or(mode->usual);
    registers.set(mode->status,
                  (status & ~mode->bit) | ((*return_address & 1U) != 0 ? mode->bit : 0));
  }
  result.caller.pc = arch.code_address(*return_address) & arch.address_mask();
  registers.set(arch.registers.pc, result.caller.pc);
  result.caller.registers = registers;
  result.caller.interrupted = interrupted;
  return result;
}

std::vector<SavedWord> saved_words(const UnwindRow& row, const Activation& callee, Address cfa,
                                   const Architecture& arch, const Memory& memory) {
  std::vector<SavedWord> found;
  for (const NamedRule& named : row.rules) {
    const Register number = named.number == row.return_address ? arch.registers.pc : named.number;
    if (named.rule.kind == RegisterRule::Kind::at_cfa) {
      const Address address = cfa + static_cast<Address>(named.rule.offset);
      found.push_back({number, address & arch.address_mask()});
    } else if (named.rule.kind == RegisterRule::Kind::at_expression) {
      const auto address = evaluate(named.rule.expression, {arch, callee.registers, memory, cfa});
      if (address) {
        found.push_back({number, *address & arch.address_mask()});
      }
    }
  }
  return found;
}

}  // namespace whocall
