// Threads that were asked for their stacks stay in the handler, until the process has ended or goes
// on: what they stood in would else tell them of a signal (EINTR), and they would run on while
// others look at what they do.
#pragma once

#include <sys/types.h>

namespace whocall::runtime {

// From now on threads stay.
void begin_holding();

// Keeps the calling thread in the handler until they are let go. Meanwhile `answer(data)` is called
// each time that somebody rings.
void stay(pid_t thread, void (*answer)(void* data), void* data);

// False where the thread is not held.
bool ring(pid_t thread);

// Lets all of them go, and holds no more. In the child of a fork, which has none of them, it does
// no harm, and in that of a vfork it is the parent's threads that go on.
void let_go();

bool is_holding();
// Since the process began.
bool was_anyone_held();

}  // namespace whocall::runtime
