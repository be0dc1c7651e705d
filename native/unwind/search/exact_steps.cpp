#include "unwind/search/exact_steps.h"

#include "unwind/rows/apply_row.h"
#include "unwind/search/damaged_return.h"

namespace whocall {
namespace {

// Folklore. Situation: a leftover's rule counts from a register that the search does not know,
// and whatever word it takes for it points to other memory, where a zero looks like the end of a
// stack. Example: Runtime1::counter_overflow of HotSpot, rbp+16. Remedy: a step to another stack
// leads on only where the call there goes to the function.
bool goes_astray(const Activation& callee, const UnwindRow& row, const AppliedRow& proposal,
                 const Judgement& judgement, const WalkContext& context) {
  const Register sp = context.process.arch->registers.sp;
  return !row.signal_frame && proposal.failure == ApplyFailure::none &&
         !judgement.evidence.has(Evidence::call_target) &&
         (judgement.steps_down ||
          !context.judge.same_stack(callee.registers.get(sp), proposal.cfa));
}

}  // namespace

ExactStep exact_step(const Activation& callee, const WalkContext& context) {
  ExactStep step;
  for (Strategy* strategy : context.exact) {
    const UnwindRow* row = strategy->find(callee, context);
    if (row == nullptr) {
      continue;
    }
    step = step_by(*row, callee, strategy->trust(), context);
    if (step.judgement.refusal == Refusal::none ||
        step.judgement.refusal == Refusal::end_of_stack) {
      break;
    }
  }
  return step;
}

ExactStep step_by(const UnwindRow& row, const Activation& callee, Trust trust,
                  const WalkContext& context) {
  const Architecture& arch = *context.process.arch;
  const auto proposal = apply_row(row, callee, arch, *context.process.memory);
  ExactStep step{proposal.caller, proposal.cfa, context.judge.weigh(callee, row, proposal, trust)};
  if (goes_astray(callee, row, proposal, step.judgement, context)) {
    step.judgement.refusal = Refusal::stack_elsewhere;
  }
  return step;
}

// Folklore. Situation: a program's file is missing, and its frames hold leftovers of calls that are
// long over; the table of a library leads from one of them to a pointer to a function of the
// program. Example: perfetto_unittests, where getenv's leftover leads to a method that a frame of
// gtest holds; the chain of frame pointers leads past both. Remedy: what rests on a search is held
// to what a search is held to.
bool may_be_unseen(const Activation& callee, const ExactStep& step, const WalkContext& context) {
  AppliedRow proposal;
  proposal.caller = step.caller;
  proposal.cfa = step.cfa;
  return !is_no_return_address(callee, proposal, CallMatch::unreadable, true, context);
}

bool is_doubtful(const Judgement& judgement) {
  const bool elsewhere = judgement.call == CallMatch::elsewhere;
  const bool no_call = judgement.call == CallMatch::no_call && !judgement.planted;
  return (elsewhere || no_call) && !judgement.evidence.has(Evidence::signal);
}

}  // namespace whocall
