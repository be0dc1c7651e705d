// What relocations of ARM let the linker write into the code.
#pragma once

#include <span>

#include "arch/linkage.h"

namespace whocall::arm {

std::span<const RelocationForm> relocations();
// Of calls and jumps, in A32 and in T32; the linker changes bl to blx where the mode changes.
RelocatedTarget got_target(const RelocatedPlace& place);

}  // namespace whocall::arm
