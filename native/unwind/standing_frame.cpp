#include "unwind/standing_frame.h"

#include <algorithm>

namespace whocall {
namespace {

constexpr std::size_t kReach = 4096;  // words

// The stack pointer where the code of `callee` was entered: it may have lowered it since, to call.
Address entered_at(const Activation& callee, Address sp, const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  const UnwindRow* row = context.analyser.row_at(callee.lookup_pc());
  const bool lowered = row != nullptr && row->cfa.kind == CfaRule::Kind::register_offset &&
                       row->cfa.base == arch.sp &&
                       row->cfa.offset > arch.return_address_size_on_stack;
  return lowered ? sp + static_cast<Address>(row->cfa.offset) - arch.return_address_size_on_stack
                 : sp;
}

// Whether the rule, one of a function that jumps away, puts its return address at `slot`.
bool returns_by(const UnwindRow& row, Address sp, Address slot, const Architecture& arch) {
  const RegisterRule* rule = row.rule_for(arch.return_address);
  return row.cfa.base == arch.sp && rule != nullptr && rule->kind == RegisterRule::Kind::at_cfa &&
         sp + static_cast<Address>(row.cfa.offset + rule->offset) == slot;
}

}  // namespace

std::optional<UnwindRow> find_standing_frame(const Activation& callee, const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  const auto sp = callee.registers.get(arch.sp);
  const auto here = context.code.function_at(callee.lookup_pc());
  if (!sp || arch.return_address_size_on_stack == 0) {
    return std::nullopt;
  }
  const Address entered = entered_at(callee, *sp, context);
  for (std::size_t i = 0; i < kReach; ++i) {
    const Address slot = *sp + i * arch.pointer_size;
    const auto word = context.process.memory->read_unsigned(slot, arch.pointer_size, arch.endian);
    if (!word) {
      break;
    }
    Activation caller;
    caller.pc = arch.code_address(*word);
    if (caller.pc == 0 || !context.process.is_code(caller.lookup_pc())) {
      continue;
    }
    std::optional<Address> called;
    context.judge.match_call(callee, caller, called);
    if (!called || (here && here->contains(*called))) {
      continue;
    }
    const auto& rows = context.analyser.rows_at_jumps(*called);
    const auto row = std::ranges::find_if(
        rows, [&](const UnwindRow& one) { return returns_by(one, entered, slot, arch); });
    if (row != rows.end()) {
      UnwindRow found = *row;
      found.cfa.offset += static_cast<std::int64_t>(entered - *sp);
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace whocall
