#include "unwind/search/standing_frame.h"

#include "unwind/judge/judge.h"
#include "unwind/rows/apply_row.h"

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
                       row->cfa.base == arch.registers.sp &&
                       row->cfa.offset > arch.frame.pushed_by_call;
  return lowered ? sp + static_cast<Address>(row->cfa.offset) - arch.frame.pushed_by_call : sp;
}

constexpr std::int64_t kReserved = 1024;  // bytes
constexpr std::int64_t kMostLowered = 256;

// By how much the code that was jumped to may have lowered the stack pointer. Where nobody but a
// runtime reserves so much, that may be a little, whatever the analysis thinks; a small frame fits
// by chance, so there it has to be what the analysis says.
bool may_be_lowered_by(std::int64_t distance, std::int64_t frame_size, const StackPointer& sp) {
  return frame_size >= kReserved ? distance >= 0 && distance <= kMostLowered
                                 : distance == static_cast<std::int64_t>(sp.entered - sp.now);
}

// The distance from the stack pointer to the CFA, should the rule, one of a function that jumps
// away, put its return address at `slot`.
std::optional<std::int64_t> fixed_distance(const UnwindRow& row, const StackPointer& sp,
                                           Address slot, std::int64_t return_offset) {
  const auto to_cfa = static_cast<std::int64_t>(slot - sp.now) - return_offset;
  return may_be_lowered_by(to_cfa - row.cfa.offset, row.cfa.offset, sp) ? std::optional(to_cfa)
                                                                        : std::nullopt;
}

// The same for a function that aligned its stack, so that its rule goes by a word that it keeps
// there: that word has to lead to `slot`.
std::optional<std::int64_t> kept_distance(const UnwindRow& row, const Activation& callee,
                                          const StackPointer& sp, Address slot,
                                          const ProcessImage& process) {
  const Architecture& arch = *process.arch;
  UnwindRow only_cfa = row;
  std::erase_if(only_cfa.rules, [&](const NamedRule& rule) {
    return rule.number != arch.registers.return_address;
  });
  const std::int64_t return_offset = only_cfa.rules.front().rule.offset;
  Activation at_jump = callee;
  for (std::int64_t lowered = 0; lowered <= kMostLowered; lowered += arch.registers.size) {
    at_jump.registers.set(arch.registers.sp, sp.now + static_cast<Address>(lowered));
    const AppliedRow applied = apply_row(only_cfa, at_jump, arch, *process.memory);
    const auto to_cfa = static_cast<std::int64_t>(applied.cfa - sp.now);
    if (applied.failure == ApplyFailure::none &&
        applied.cfa + static_cast<Address>(return_offset) == slot &&
        may_be_lowered_by(lowered, to_cfa - lowered, sp)) {
      return to_cfa;
    }
  }
  return std::nullopt;
}

std::optional<UnwindRow> standing_row(const UnwindRow& row, const Activation& callee,
                                      const StackPointer& sp, Address slot,
                                      const ProcessImage& process) {
  const Architecture& arch = *process.arch;
  const RegisterRule* rule = row.rule_for(arch.registers.return_address);
  if (rule == nullptr || rule->kind != RegisterRule::Kind::at_cfa) {
    return std::nullopt;
  }
  const bool fixed = row.cfa.kind == CfaRule::Kind::register_offset;
  const auto distance = fixed ? fixed_distance(row, sp, slot, rule->offset)
                              : kept_distance(row, callee, sp, slot, process);
  if (!distance) {
    return std::nullopt;
  }
  UnwindRow found = row;
  found.cfa = CfaRule::at(arch.registers.sp, *distance);
  for (NamedRule& saved : found.rules) {
    if (saved.rule.kind == RegisterRule::Kind::at_expression) {  // of the sp at the jump
      saved.rule = RegisterRule::undefined();
    }
  }
  return found;
}

}  // namespace

std::optional<UnwindRow> find_standing_frame(const Activation& callee, const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  const auto sp = callee.registers.get(arch.registers.sp);
  const auto here = context.code.function_at(callee.lookup_pc());
  if (!sp || arch.frame.pushed_by_call == 0) {
    return std::nullopt;
  }
  const StackPointer where{*sp, entered_at(callee, *sp, context)};
  SearchBudget& budget = context.budget;
  for (std::size_t i = 0; i < kReach && budget.words > 0 && budget.glances > 0;
       ++i, --budget.words) {
    const Address slot = *sp + i * arch.registers.size;
    const auto word =
        context.process.memory->read_unsigned(slot, arch.registers.size, arch.abi.endian);
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
      if (auto found = standing_row(row, callee, where, slot, context.process)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace whocall
