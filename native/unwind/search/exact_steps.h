// Steps by rules that pass over nobody, for those who try where a frame would lead.
#pragma once

#include "unwind/judge/judge.h"
#include "unwind/strategy.h"

namespace whocall {

struct ExactStep {
  Activation caller;
  Address cfa = 0;  // of the callee
  Judgement judgement{.refusal = Refusal::no_cfa};
};

// By the first of the exact strategies whose rule leads on; the last refusal where none does.
ExactStep exact_step(const Activation& callee, const WalkContext& context);
// By that rule.
ExactStep step_by(const UnwindRow& row, const Activation& callee, Trust trust,
                  const WalkContext& context);

// Whether a step to code that is not at hand leads to what looks returned to.
bool may_be_unseen(const Activation& callee, const ExactStep& step, const WalkContext& context);

// Whether a step leads where no call can have come from. Where the code is not at hand nothing
// speaks against it.
bool is_doubtful(const Judgement& judgement);

}  // namespace whocall
