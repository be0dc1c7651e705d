#include "unwind/search/return_slot.h"

#include <algorithm>

#include "unwind/rows/apply_row.h"
#include "unwind/rows/chain_row.h"
#include "unwind/search/exact_steps.h"

namespace whocall {
namespace {

constexpr Address kPrologue = 128;            // bytes in which a function saves its return address
constexpr std::int64_t kLargestFrame = 1024;  // bytes, where callers alone tell its end
constexpr int kMostSteps = 2;                 // to a call that is seen to go to the caller, or on

std::optional<std::int64_t> find_rule(Address function, const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  Activation at;
  at.interrupted = true;
  for (Address pc = function; pc < function + kPrologue; pc += arch.code.alignment) {
    at.pc = pc;
    for (Strategy* strategy : context.exact) {
      const UnwindRow* row = strategy->find(at, context);
      const auto rule = row != nullptr ? row->rule_for(row->return_address) : nullptr;
      if (rule != nullptr && rule->kind == RegisterRule::Kind::at_cfa && !row->signal_frame) {
        return -rule->offset;
      }
    }
  }
  return std::nullopt;
}

// Folklore. Situation: a return address was overwritten, and what a search finds next is where
// another function keeps its own; how large that one's frame is nobody tells, so that its caller's
// frame cannot be found by rules either, and each frame farther up is searched for as well.
// Example: stp x19,x20,[sp,#-96]!; str x30,[sp,#32] of AArch64 without frame pointers. Remedy: the
// call before a return address tells which function saved it; where the rules for that function say
// the address is kept, the word was found, and from there to the frame's end it is always as far.
std::optional<std::int64_t> cfa_above_saved_return(Address function, const WalkContext& context) {
  const auto [known, fresh] = context.notes.cfas_above_saved_return.try_emplace(function);
  if (fresh) {
    known->second = find_rule(function, context);
  }
  return known->second;
}

// Whether exact rules lead from `caller` to a call that went to it, in that many steps; a word that
// is found twice leads nowhere.
bool was_called(Activation caller, int steps, const WalkContext& context) {
  for (int i = 0; i < steps; ++i) {
    const ExactStep step = exact_step(caller, context);
    if (step.judgement.refusal != Refusal::none || is_doubtful(step.judgement)) {
      return false;
    }
    if (step.judgement.evidence.has(Evidence::call_target)) {
      return true;
    }
    if (step.caller.pc == caller.pc) {
      return false;
    }
    caller = step.caller;
  }
  return false;
}

// Folklore. Situation: the same, and the file of the function that saved the address is missing.
// Example: a library of AArch64 without frame pointers, str x30,[sp,#-96]!; were the frame taken to
// end behind the word, its caller's table would read a zero, as if the stack ended. Remedy: counted
// from the true end, the caller's rule leads to a call of the caller; the nearest such end is
// taken.
template <typename MakeRow>
std::optional<std::int64_t> end_by_callers(const Activation& callee, std::int64_t least, int steps,
                                           const MakeRow& make_row, const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  const Address sp = callee.registers.get(arch.registers.sp).value_or(0);
  for (std::int64_t above = least; above <= kLargestFrame && context.budget.glances > 0;
       above += arch.registers.size) {
    const UnwindRow row = make_row(above);
    if ((sp + static_cast<Address>(row.cfa.offset)) % arch.abi.call_alignment != 0) {
      continue;
    }
    --context.budget.glances;
    if (was_called(apply_row(row, callee, arch, *context.process.memory).caller, steps, context)) {
      return above;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> cfa_above_slot(const Activation& callee, std::int64_t slot,
                                           const Judgement& judgement, const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  if (arch.frame.pushed_by_call != 0 || judgement.call == CallMatch::unreadable) {
    return std::nullopt;
  }
  auto above = judgement.called ? cfa_above_saved_return(*judgement.called, context) : std::nullopt;
  const auto make_row = [&](std::int64_t to_cfa) { return row_of_return_slot(arch, slot, to_cfa); };
  for (int steps = 1; steps <= kMostSteps && !above; ++steps) {
    above = end_by_callers(callee, arch.cfa_above_return_slot(), steps, make_row, context);
  }
  return above;
}

std::int64_t cfa_above_leaf(const Activation& callee, const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  const auto make_row = [&](std::int64_t above) {
    UnwindRow row;
    row.cfa = CfaRule::at(arch.registers.sp, above);
    row.return_address = arch.registers.return_address;
    return row;
  };
  return end_by_callers(callee, 0, 1, make_row, context).value_or(0);
}

}  // namespace whocall
