// RISC-V machine code read backwards: instructions have 2 or 4 bytes, and the second half of a long
// one may look like a short one.
#pragma once

#include "arch/code_model.h"

namespace whocall::riscv {

// Each answers the question of CodeModel by the same name.
std::optional<CallSite> call_before(ByteView before, Address return_address);
bool flow_ends(ByteView before);

}  // namespace whocall::riscv
