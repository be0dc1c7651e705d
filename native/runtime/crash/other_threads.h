// The stacks of the threads that did not crash: each is asked by a signal, one after the other.
// Those that do not answer cost some seconds together, however many they are.
#pragma once

#include <sys/types.h>

#include "runtime/crash/crash.h"
#include "runtime/crash/stack_frames.h"

namespace whocall::runtime {

// The handler of the question's signal. 0, or -1 with errno.
int listen_for_questions();

// What one thread answered; in static memory, until the next is asked.
struct Answer {
  Registers registers;
  StackFrames frames;
};

// To be called before the first is asked. From then on those that were asked stay where they are:
// see held_threads.h.
void begin_asking();
// Null where the thread blocks the question, or does not answer within a second.
const Answer* ask(pid_t process, pid_t thread);

// The name of a thread, in static memory until the next one; "" where it is not known.
const char* thread_name(pid_t thread);

// Calls `visit(thread, data)` for each thread of the process.
void for_each_thread(void (*visit)(pid_t thread, void* data), void* data);

// Sleeps a moment.
void wait_a_moment();

}  // namespace whocall::runtime
