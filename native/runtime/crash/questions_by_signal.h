// A signal by which others ask where the process stands.
#pragma once

#include "runtime/crash/actions.h"

namespace whocall::runtime {

// From now on it is `answer` that is called for the signal, and no longer for the one before; 0:
// for none. 0, or -1 with errno: EINVAL for what is no such signal, EBUSY for one that the program
// handles or ignores.
int answer_questions_by(int signal, OurHandler answer);

}  // namespace whocall::runtime
