// What relocations of AArch64 let the linker write into the code.
#pragma once

#include <span>

#include "arch/linkage.h"

namespace whocall::aarch64 {

std::span<const RelocationForm> relocations();
// Of b and bl.
RelocatedTarget got_target(const RelocatedPlace& place);

}  // namespace whocall::aarch64
