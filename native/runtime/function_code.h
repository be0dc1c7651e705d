// The rule that a function's own instructions give where it has no table (x86-64, AArch64): read
// from its beginning on, which a symbol tells, or who has called it.
#pragma once

#include "rules/frame_rule.h"
#include "runtime/machine.h"
#include "runtime/modules.h"
#include "runtime/readable.h"

namespace whocall::runtime {

#if defined(__aarch64__) || (defined(__x86_64__) && defined(__LP64__))
#define WHOCALL_READS_FUNCTIONS 1
#else
#define WHOCALL_READS_FUNCTIONS 0
#endif
inline constexpr bool kReadsFunctions = WHOCALL_READS_FUNCTIONS != 0;

// `exact`: the instruction at the point is yet to run. `cfa` is none where they say nothing.
rules::FrameRule rule_by_function(const Module& module, const Point& at, bool exact,
                                  CheckedReader& reader);

}  // namespace whocall::runtime
