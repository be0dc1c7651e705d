// The memory of a crash that another dump tells, as a core has it.
#pragma once

#include <vector>

#include "process/core/core_writer.h"
#include "process/minidump/minidump.h"

namespace whocall {

// Disjoint, by address: what the dump holds, and the rest of the mappings around it. Of pieces and
// of mappings that overlap the one that begins first wins; memory outside all mappings is data.
std::vector<CoreSegment> core_segments_of(const Minidump& dump);

}  // namespace whocall
