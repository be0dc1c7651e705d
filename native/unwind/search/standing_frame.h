// The frame of a function that jumped into other code and left its own frame standing.
//
// Folklore. Situation: a runtime keeps its own stack elsewhere, and its code uses the stack pointer
// for nothing. Example: GHC's StgRun saves registers, reserves 16 KiB for calls into C and jumps
// into compiled Haskell code; below its return address lie 16 KiB of leftovers, whole chains and
// signal frames among them. Remedy: the distance from the stack pointer to the return address is a
// fact of the function that jumped: where a word just as far away follows a call to that very
// function, it is the one. A function that also aligns its stack (restoreregs of SML/NJ, which
// reserves 8 KiB) keeps the old stack pointer there: the word it keeps tells the distance.
#pragma once

#include <optional>

#include "unwind/strategy.h"

namespace whocall {

// The rule that leads from `callee` to the caller of a function that jumped to where it runs; a
// miss when there is none within reach.
std::optional<UnwindRow> find_standing_frame(const Activation& callee, const WalkContext& context);

}  // namespace whocall
