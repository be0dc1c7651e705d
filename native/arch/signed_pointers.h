// Instruction sets whose code pointers hold a signature, as a kernel with its own size of addresses
// sees them.
#pragma once

#include <cstdint>

#include "arch/architecture.h"

namespace whocall {

// `bits` are those of a code pointer that hold its signature: all from the end of the addresses on.
// The answer lives as long as the program. What no kernel says of itself (addresses of less than 32
// bits or more than 55) changes nothing.
const Architecture& with_signatures_in(const Architecture& arch, std::uint64_t bits);

}  // namespace whocall
