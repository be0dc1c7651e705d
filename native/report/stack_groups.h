// Threads with identical stacks folded into one group.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "report/thread_trace.h"

namespace whocall {

// Indices of `traces`, in the order of the groups' first threads: together are those that print the
// same lines (their CFAs always differ). Unless `fold`, each is alone. The thread that crashed is
// never folded away: its title carries the signal.
std::vector<std::vector<std::size_t>> group_stacks(std::span<const ThreadTrace> traces, bool fold);

}  // namespace whocall
