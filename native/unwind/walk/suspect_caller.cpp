#include "unwind/walk/suspect_caller.h"

#include "unwind/walk/exact_steps.h"

namespace whocall {
namespace {

// Whether `pc` is the first byte of a function, behind the last byte of another.
bool lies_between_functions(Address pc, CodeMap& code) {
  const auto behind = code.function_at(pc);
  return behind && behind->begin == pc;
}

// Whether the function that holds the call before the caller's address has a frame there from
// which the walk would go on.
bool leads_on(const Activation& caller, const WalkContext& context) {
  const ExactStep next = exact_step(caller, context);
  const bool ends = next.judgement.refusal == Refusal::end_of_stack && next.caller.pc != 0;
  return ends || (next.judgement.refusal == Refusal::none && !is_doubtful(next.judgement));
}

}  // namespace

// Folklore. Situation: a library of coroutines puts the address of a function that never returns
// where the return address of a coroutine's function would be. Example: libcoro, and with it
// Perl's Coro, puts &abort there; behind the last byte of another function, whose last instruction
// is `call abort`, so that it looks like the return address of that call. The same has every true
// caller of a function that never returns, with PLT slots and tail calls in between. Remedy: the
// address is no return address where the called function cannot have led to the frame below, and
// the frame that it would be of leads nowhere. Where only one of the two is so, it may be one.
CallDoubt doubt_of(const Activation& callee, const Attempt& attempt, const WalkContext& context) {
  const Judgement& judgement = attempt.judgement;
  const Activation& caller = attempt.proposal.caller;
  if (judgement.call != CallMatch::elsewhere || attempt.row->signal_frame ||
      attempt.row->injected || attempt.strategy->trust() > Trust::analysis ||
      !lies_between_functions(caller.pc, context.code)) {
    return CallDoubt::none;
  }
  const bool impossible =
      judgement.called && context.judge.cannot_lead(*judgement.called, callee.lookup_pc());
  return impossible && !leads_on(caller, context) ? CallDoubt::disproved : CallDoubt::some;
}

}  // namespace whocall
