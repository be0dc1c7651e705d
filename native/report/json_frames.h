// Frames as JSON text: what `json.dumps(frames, indent=1, ensure_ascii=False)` of Python writes.
#pragma once

#include <cstddef>
#include <string>

#include "report/frame_facts.h"

namespace whocall {

// Appends the frames range.at(from), range.at(from + 1), ... of a list whose items stand behind
// `margin` spaces, each with what separates it from the one before, until the block is full or
// none is left. Returns the number of the first one that was not written.
std::size_t append_json_frames(std::string& block, const NamedWalk& walk, const FrameRange& range,
                               std::size_t from, std::size_t margin);

}  // namespace whocall
