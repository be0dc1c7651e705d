// The registers of the frames of a finished walk, which keeps of them no more than it needs.
#pragma once

#include <vector>

#include "unwind/backtrace.h"
#include "unwind/walk/walker.h"

namespace whocall {

// Of the innermost `count` frames. By the rules that led from frame to frame, as far as they lead
// to the same places again; behind a frame that was found in another way nothing is known but its
// pc and stack pointer.
std::vector<Registers> registers_of_frames(Walker& walker, const Thread& thread,
                                           const std::vector<Frame>& frames, std::size_t count);

}  // namespace whocall
