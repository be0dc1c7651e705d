// Whether code calls the kernel.
#pragma once

#include "arch/instruction.h"

namespace whocall {

// Whether the last instruction of `before`, the code below `address`, calls the kernel: a thread
// that waits there stands at `address`, and no call precedes it.
bool ends_with_system_call(InstructionDecoder& decoder, ByteView before, Address address);

}  // namespace whocall
