// Call frame instructions compiled to rows.
#pragma once

#include <vector>

#include "object/call_frame_info.h"
#include "unwind/rows/row.h"

namespace whocall {

// The rows of one FDE, in ascending order and without gaps over the FDE's range (link addresses).
// A program that is damaged yields the rows before the damage; its last row then ends there.
std::vector<UnwindRow> compile(const Fde& fde);

}  // namespace whocall
