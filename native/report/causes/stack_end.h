// A stack that is used up.
//
// That the fault lies near the stack does not prove it: an index below an array reaches the guard
// page too, with the stack pointer far above. So the stack pointer itself has to have left the
// stack, or to stand where the next push does.
#pragma once

#include <optional>

#include "report/causes/scene.h"

namespace whocall {

// The stack of a thread that crashed because there is no more of it.
std::optional<AddressRange> used_up_stack(const Scene& scene);

// Whether the access that faulted may be the stack's growth, of which too little is known.
bool may_be_used_up(const Scene& scene);

// The fault lies right below the thread's stack, and so does the stack pointer.
std::optional<Fact> stack_overflow(const Scene& scene);

}  // namespace whocall
