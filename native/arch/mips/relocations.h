// What relocations of MIPS let the linker write into the code.
#pragma once

#include <span>

#include "arch/linkage.h"

namespace whocall::mips {

// By the byte order: the lower half of an instruction comes first or last.
std::span<const RelocationForm> relocations(Endian order);
// Of loads from the global offset table, by the instruction's lower half; of calls that the linker
// made direct ones.
RelocatedTarget got_target(const RelocatedPlace& place);

}  // namespace whocall::mips
