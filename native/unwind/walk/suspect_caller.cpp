#include "unwind/walk/suspect_caller.h"

#include <cstdint>

#include "unwind/judge/judge.h"
#include "unwind/search/exact_steps.h"

namespace whocall {
namespace {

// Whether `pc` is the first byte of a function, behind the last byte of another.
bool lies_between_functions(Address pc, CodeMap& code) {
  const auto behind = code.function_at(pc);
  return behind && behind->begin == pc;
}

// Where the function that holds the call before the caller's address would go on from there.
enum class Lead : std::uint8_t { on, nowhere, zero };

Lead lead_of(const Activation& caller, const WalkContext& context) {
  const ExactStep next = exact_step(caller, context);
  if (next.judgement.refusal == Refusal::end_of_stack) {
    return next.caller.pc == 0 ? Lead::zero : Lead::on;
  }
  const bool acceptable = next.judgement.refusal == Refusal::none && !is_doubtful(next.judgement);
  return acceptable ? Lead::on : Lead::nowhere;
}

}  // namespace

// Folklore. Situation: a library of coroutines puts the address of a function that never returns
// where the return address of a coroutine's function would be. Example: libcoro, and with it
// Perl's Coro, puts &abort there; behind the last byte of another function, whose last instruction
// is `call abort`, so that it looks like the return address of that call. The same has every true
// caller of a function that never returns, with PLT slots and tail calls in between. Remedy: the
// address is no return address where the called function cannot have led to the frame below, and
// the frame that it would be of leads nowhere. Where only one of the two is so, it may be one; but
// where that frame's return address is zero, as a stack begins, the function that begins there is
// likelier. Example: _exit of glibc 2.41, behind a call of __stack_chk_fail.
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
  const Lead lead = lead_of(caller, context);
  if (impossible && lead != Lead::on) {
    return CallDoubt::disproved;
  }
  return lead == Lead::zero ? CallDoubt::grave : CallDoubt::some;
}

}  // namespace whocall
