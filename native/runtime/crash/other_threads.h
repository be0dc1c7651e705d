// The stacks of the threads that did not crash: each is asked by a signal, one after the other.
#pragma once

#include <sys/types.h>

#include "runtime/crash/crash.h"
#include "runtime/crash/stack_frames.h"

namespace whocall::runtime {

// The handler of the question's signal. 0, or -1 with errno.
int listen_for_questions();

// What one thread answered; in static memory, until the next is asked.
struct Answer {
  Crash place{};  // its thread and context, without a signal
  StackFrames frames;
};

// Null where the thread does not answer within a second. One that does waits until the next is
// asked, or nobody any more.
const Answer* ask(pid_t process, pid_t thread);
void stop_asking();

// The name of a thread, in static memory until the next one; "" where it is not known.
const char* thread_name(pid_t thread);

// Calls `visit(thread, data)` for each thread of the process.
void for_each_thread(void (*visit)(pid_t thread, void* data), void* data);

// Sleeps a moment.
void wait_a_moment();

}  // namespace whocall::runtime
