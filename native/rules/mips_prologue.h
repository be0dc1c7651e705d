// The rule that the instructions at a MIPS function's beginning give: its ABIs ask for no unwind
// tables in C, and have no chain of frames. What compilers write there is always the same:
//
//   addiu sp, sp, -32      the frame
//   sw    ra, 28(sp)       the return address
//   sw    s8, 24(sp)       the frame pointer, where there is one,
//   move  s8, sp           and that it is the stack pointer from here on
//
// Later movements of the stack pointer belong to returns in the middle, and are left out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rules/frame_rule.h"

namespace whocall::rules {

// Of the instructions [begin, end), in this machine's byte order, that run before the wanted place.
// `cfa` is none where they make the frame in another way.
FrameRule mips_rule(const std::uint32_t* begin, const std::uint32_t* end);

// The last instruction before `end`, at `lowest` at the earliest, that begins a frame: where no
// symbol tells where the function begins. Null where a return comes first, or nothing.
const std::uint32_t* mips_frame_before(const std::uint32_t* lowest, const std::uint32_t* end);

}  // namespace whocall::rules
