// A frame that nobody called: its address stood where a return address should be.
#pragma once

#include <optional>
#include <string>

#include "unwind/judge/sentences.h"

namespace whocall {

// Why the stack ends at `planted`, which a stack was started at by hand; nothing where that is not
// proven, so that a return address may have been replaced.
std::optional<std::string> started_by_hand(const Activation& planted, const WalkContext& context);

// Whether Go's own table leads there, whose runtime plants addresses that look like no caller's.
bool is_gos_own(const Attempt& attempt);

// Whether the rule goes by a return address that a call has just left: there was no call.
bool expects_a_call(const Activation& planted, const Attempt& attempt, const Architecture& arch);

}  // namespace whocall
