// Threads that wait for each other in a ring.
#pragma once

#include <cstddef>
#include <vector>

#include "waits/waiting.h"

namespace whocall {

// Each waits for the next one, the last for the first one.
struct WaitCycle {
  std::vector<std::size_t> threads;  // indices in the process, the smallest first
  bool lasts = true;                 // none of them stops waiting by itself
};
std::vector<WaitCycle> find_cycles(const std::vector<Waiting>& waits);

}  // namespace whocall
