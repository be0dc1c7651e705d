// The stack that a thread's handlers run on.
#pragma once

#include <cstddef>

namespace whocall::runtime {

// Gives the calling thread one, unless it has one that is large enough; it goes with the thread. 0,
// or -1 with errno.
int give_handler_stack();

}  // namespace whocall::runtime
