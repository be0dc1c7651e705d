// What leads to a caller on some machines alone: ARM's tables, and MIPS' prologues.
#pragma once

#include "runtime/machine.h"
#include "runtime/modules.h"
#include "runtime/readable.h"

namespace whocall::runtime {

// By ARM's table. False where there is none, or it says nothing of the code at `lookup`.
bool step_by_index(const Module& module, std::uintptr_t lookup, CheckedReader& reader, Point& at);

// By the instructions of a MIPS function before the code at `lookup`. `cfa` is none elsewhere, and
// where they say nothing.
rules::FrameRule rule_by_prologue(const Module& module, std::uintptr_t lookup);

// Of registers other than those of a FramePoint nothing is known any more.
void forget_others(Point& at);

}  // namespace whocall::runtime
