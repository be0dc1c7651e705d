#include "waits/wait_cycles.h"

#include <algorithm>

namespace whocall {

// Every thread waits for one other at the most: whoever follows that, and marks where it has been,
// meets each cycle once.
std::vector<WaitCycle> find_cycles(const std::vector<Waiting>& waits) {
  constexpr std::size_t kNever = 0;
  std::vector<std::size_t> seen(waits.size(), kNever);  // in which of the rounds, from 1
  std::vector<WaitCycle> cycles;
  for (std::size_t start = 0; start < waits.size(); ++start) {
    const std::size_t round = start + 1;
    std::size_t at = start;
    while (seen[at] == kNever && waits[at].owner && *waits[at].owner < waits.size()) {
      seen[at] = round;
      at = *waits[at].owner;
    }
    if (seen[at] != round) {
      seen[at] = seen[at] == kNever ? round : seen[at];
      continue;
    }
    WaitCycle cycle;
    for (std::size_t next = at; cycle.threads.empty() || next != at; next = *waits[next].owner) {
      cycle.threads.push_back(next);
      cycle.lasts = cycle.lasts && waits[next].is_bound();
    }
    const auto smallest = std::ranges::min_element(cycle.threads);
    std::rotate(cycle.threads.begin(), smallest, cycle.threads.end());
    cycles.push_back(std::move(cycle));
  }
  return cycles;
}

}  // namespace whocall
