// T32 instructions of two half words.
#pragma once

#include "arch/arm/fields.h"

namespace whocall::arm {

// `word`: the first half in its upper half. False where it is no instruction.
bool read_wide(std::uint32_t word, Address address, Effects& out);

}  // namespace whocall::arm
