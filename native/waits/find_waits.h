// What all threads of a process wait for.
#pragma once

#include <vector>

#include "unwind/walk/walker.h"
#include "waits/waiting.h"

namespace whocall {

// In the order of the process; Ctrl-C ends it.
std::vector<Waiting> find_waits(Walker& walker, Symbolizer& symbolizer);

}  // namespace whocall
