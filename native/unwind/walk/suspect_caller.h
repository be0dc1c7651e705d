// A return address with a call before it that went to somebody else.
#pragma once

#include "unwind/judge/sentences.h"

namespace whocall {

// What speaks against the caller that `attempt` leads to by an exact rule.
CallDoubt doubt_of(const Activation& callee, const Attempt& attempt, const WalkContext& context);

}  // namespace whocall
