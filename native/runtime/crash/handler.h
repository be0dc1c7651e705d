// The handler of the signals that mean a crash, and what was there before it.
#pragma once

#include "runtime/whocall.h"

namespace whocall::runtime {

// 0, or -1 with errno.
int install_handlers(const whocall_crash_options& options);

// To be called where the program ends by itself: in a handler that was told of a crash, there is a
// report of that.
void report_handled();

}  // namespace whocall::runtime
