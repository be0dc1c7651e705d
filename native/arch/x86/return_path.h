// The way back out of a function of x86-64.
#pragma once

#include <optional>

#include "arch/return_path.h"

namespace whocall::x86 {

// Runs the instructions from offset `at` of `code`, the bytes of one function that begins at
// `address`, over unknown registers until it returns. Calls come back with sp and fp as they were.
// A miss where it does not return in sight, where its ways part and come back to different places,
// or where it does to sp what is not followed.
std::optional<ReturnPath> return_path_64(ByteView code, Address address, std::uint64_t at);

}  // namespace whocall::x86
