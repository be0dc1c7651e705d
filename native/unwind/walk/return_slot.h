// How far below its frame's end a function keeps the return address, where calls leave that in a
// register.
#pragma once

#include <cstdint>
#include <optional>

#include "unwind/walk/strategy.h"

namespace whocall {

// From the stack word in which the function that begins at `function` (runtime) saves its return
// address up to its CFA, bytes, by the first exact rule that tells it; nothing where none does, or
// where calls push the return address themselves.
std::optional<std::int64_t> cfa_above_saved_return(Address function, const WalkContext& context);

}  // namespace whocall
