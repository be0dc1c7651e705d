// Functions that are entered by a jump, with words on the stack above the return address.
#pragma once

#include <cstdint>

#include "arch/instruction.h"
#include "base/byte_view.h"
#include "unwind/analysis/function_analysis.h"

namespace whocall {

// How many bytes lie below the return address where a function is entered at its beginning, by the
// depth at which it returns. `function` was followed as one that is called, `code` is its own.
//
// Folklore. Situation: a stub pushes words and jumps on, and the function that it jumps to drops
// them before it returns. Example: the linkage table pushes a number and a module and jumps to
// _dl_runtime_profile of glibc's dynamic linker (LD_AUDIT), which copies its caller's stack below
// its own frame, return addresses and all. Remedy: where every return, and every jump that leaves,
// stands higher than a call would have left the stack pointer, all by as much, that was pushed
// before.
std::int64_t pushed_before(const FollowedFunction& function, ByteView code,
                           const Architecture& arch, InstructionDecoder& decoder);

}  // namespace whocall
