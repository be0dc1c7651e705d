#include "unwind/walk/standing_frame.h"

namespace whocall {
namespace {

constexpr std::size_t kReach = 4096;  // words

struct StackPointer {
  Address now = 0;
  Address entered = 0;
};

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

// By how much the code that was jumped to has lowered the stack pointer, should the rule, one of a
// function that jumps away, put its return address at `slot`. Where nobody but a runtime reserves
// so much, that may be a little, whatever the analysis thinks; a small frame fits by chance, so
// there it has to be what the analysis says. A miss for any other distance.
std::optional<std::int64_t> lowered_by(const UnwindRow& row, const StackPointer& sp, Address slot,
                                       const Architecture& arch) {
  constexpr std::int64_t kReserved = 1024;  // bytes
  constexpr std::int64_t kMost = 256;
  const RegisterRule* rule = row.rule_for(arch.return_address);
  if (row.cfa.base != arch.sp || rule == nullptr || rule->kind != RegisterRule::Kind::at_cfa) {
    return std::nullopt;
  }
  const auto distance = static_cast<std::int64_t>(slot - sp.now) - row.cfa.offset - rule->offset;
  const bool fits = row.cfa.offset >= kReserved
                        ? distance >= 0 && distance <= kMost
                        : distance == static_cast<std::int64_t>(sp.entered - sp.now);
  return fits ? std::optional(distance) : std::nullopt;
}

}  // namespace

std::optional<UnwindRow> find_standing_frame(const Activation& callee, const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  const auto sp = callee.registers.get(arch.sp);
  const auto here = context.code.function_at(callee.lookup_pc());
  if (!sp || arch.return_address_size_on_stack == 0) {
    return std::nullopt;
  }
  const StackPointer where{*sp, entered_at(callee, *sp, context)};
  SearchBudget& budget = context.budget;
  for (std::size_t i = 0; i < kReach && budget.words > 0 && budget.glances > 0;
       ++i, --budget.words) {
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
    --budget.glances;
    std::optional<Address> called;
    context.judge.match_call(callee, caller, called);
    if (!called || (here && here->contains(*called))) {
      continue;
    }
    for (const UnwindRow& row : context.analyser.rows_at_jumps(*called)) {
      if (const auto lowered = lowered_by(row, where, slot, arch)) {
        UnwindRow found = row;
        found.cfa.offset += *lowered;
        return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace whocall
