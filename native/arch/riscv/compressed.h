// Instructions of 16 bits, the C extension: each stands for one of 32.
#pragma once

#include "arch/instruction.h"

namespace whocall::riscv {

// Writes what `parcel`, at `address`, does into `out`; false for what is no instruction.
bool read_compressed(std::uint32_t parcel, Address address, Instruction& out);

}  // namespace whocall::riscv
