#include "unwind/walk/stack_switches.h"

#include <algorithm>

namespace whocall {
namespace {

constexpr Address kLargestPassedFrame = Address{64} << 10U;

// Whether the walk has passed the word at `slot` inside a frame that it found.
bool was_passed(Address slot, const WalkContext& context) {
  SearchBudget& budget = context.budget;
  const std::size_t frames = context.frames.size();
  if (budget.words <= frames) {
    budget.words = 0;
    return true;
  }
  budget.words -= frames;
  return std::ranges::any_of(context.frames, [&](const Frame& frame) {
    return !frame.signal_trampoline && slot >= frame.sp && slot < frame.cfa &&
           frame.cfa - frame.sp <= kLargestPassedFrame;
  });
}

// Folklore. Situation: a runtime carves its stacks out of one arena, so that the stack of who
// switched may lie below the one that was switched to. Example: every waiting thread of Wine, whose
// kernel stack and user stack are parts of one mapping; the function that switched has a frame
// pointer, and its table counts from there. Remedy: a rule that does not count from the stack
// pointer may lead down. Against it speak, as the register may have been overwritten: that the code
// itself never lost its stack pointer, so that it stands elsewhere; that the walk has passed there;
// and that the word there is the leftover of a call of another function.
bool may_lead_down(const Activation& callee, const Attempt& attempt, const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  const CallMatch call = attempt.judgement.call;
  const AppliedRow& to = attempt.proposal;
  const Address sp = to.caller.registers.get(arch.registers.sp).value_or(to.cfa);
  if (was_passed(sp - arch.abi.pointer_size, context)) {
    return false;
  }
  if (attempt.row->cfa.kind == CfaRule::Kind::expression) {
    return true;
  }
  const UnwindRow* const run = context.analyser.row_at(callee.lookup_pc());
  const bool stands = run != nullptr && run->cfa.kind == CfaRule::Kind::register_offset &&
                      run->cfa.base == arch.registers.sp;
  const bool by_table = attempt.strategy->trust() == Trust::cfi;
  const bool possible = goes_to_callee(call) || (by_table && call == CallMatch::unknown) ||
                        (by_table && call == CallMatch::unreadable);
  return possible && !stands;
}

}  // namespace

Refusal StackSwitches::check(const Activation& callee, const Attempt& attempt,
                             const WalkContext& context) {
  const Register sp = context.process.arch->registers.sp;
  const auto from = callee.registers.get(sp);
  const auto to = attempt.proposal.caller.registers.get(sp);
  if (from && to && *to > *from) {
    return Refusal::none;
  }
  if (attempt.judgement.steps_down && !may_lead_down(callee, attempt, context)) {
    return Refusal::stack_backwards;
  }
  const std::pair arrival(attempt.proposal.caller.pc, to.value_or(0));
  if (std::ranges::find(arrivals_, arrival) != arrivals_.end() || arrivals_.size() >= kLimit) {
    return Refusal::circle;
  }
  arrivals_.push_back(arrival);
  return Refusal::none;
}

}  // namespace whocall
