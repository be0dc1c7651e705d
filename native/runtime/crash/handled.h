// Crashes that a handler of the program's own was told of. It may recover from them, and nobody has
// to know; or the process ends while it runs, by abort() for instance: then the crash is what the
// report is about.
#pragma once

#include "runtime/crash/crash.h"
#include "runtime/walk.h"

namespace whocall::runtime {

// Notes the crash before the handler is called. What it returns is for end_of_handling().
std::size_t note_handling(const Crash& crash);
// The handler has returned.
void end_of_handling(std::size_t note, const Crash& crash);

// Whether a handler of the thread's may not have returned. It may as well have jumped away.
bool may_be_handling(pid_t thread);

// The crash whose handler the thread is in, the outermost where there are several: the walk from
// where it is now comes by the registers that were saved for the handler. False: in none.
bool find_handled(pid_t thread, CarefulWalk& walk, Crash& crash);

// Where a handler has sent its signal again and returned, that comes where the crash was: with what
// was told of the crash, and not of the sender.
void recall(Crash& crash);

}  // namespace whocall::runtime
