// The function that position-independent code calls through the register which is kept for that
// (MIPS: t9), by what the code before the call puts into it: a word of the global offset table, or
// an address that it counts from one.
#pragma once

#include <optional>

#include "base/address.h"
#include "process/process_image.h"

namespace whocall {

// The runtime address that was called from right before `return_address`. A miss where the code
// there does not tell. It is read in the order in which it stands: where jumps lead into it,
// another function may have been called, so that it speaks for a match alone and never against one.
std::optional<Address> loaded_callee(const ProcessImage& process, Address return_address);

}  // namespace whocall
