// Runs of a repeating cycle of functions in a chain: what an endless recursion leaves behind.
//
// Text shows the first cycle of a run and its last frames; between them stands how many frames are
// left out there. A recursion of a few calls is no run: it reads best as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/form/named_walk.h"

namespace whocall {

// Frames [begin, end) of a chain that repeat the `period` frames before them.
struct Gap {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t period = 0;
};

// What to leave out, innermost first, of frames that are equal where their numbers are: behind each
// gap the run shows one frame at least, and one cycle at the most.
std::vector<Gap> find_gaps(std::span<const std::uint32_t> frames);

// The same of frames that are equal where they read the same: the place of a call may differ from
// cycle to cycle, but not the function, nor how sure the frame is.
std::vector<Gap> find_gaps(const NamedWalk& walk, const FrameRange& range);

// "... 261,984 frames: the 2 frames above repeated 130,992 times ..."
std::string gap_line(const Gap& gap);

}  // namespace whocall
