// A crash that a running process tells of itself: its thread stands in a handler, and what counts
// is where it stood before.
#pragma once

#include <cstdint>

#include "process/process_image.h"

namespace whocall {

struct ToldCrash {
  std::int64_t lwp = 0;
  Registers registers;  // as the kernel handed them to the handler; others are as they are now
  int signal = 0;
  SignalInfo info{};
};

// Puts the thread where it crashed, and first, as a core has it. Throws Error where there is no
// such thread.
void put_where_it_crashed(const ToldCrash& crash, ProcessImage& image);

}  // namespace whocall
