// What a routine that saves registers for its caller does (-msave-restore). RISC-V ELF psABI,
// "Procedure Calling Convention", and the calls that GCC and LLVM make of it.
#pragma once

#include "arch/instruction.h"
#include "base/code_reader.h"

namespace whocall::riscv {

// Puts into `out` how the routine at `address` lowers the stack pointer, and the registers that it
// saves before it comes back by t0; false, and nothing, where the code there does anything else.
// `decoder` looks at no further routines.
//
// Folklore. Situation: functions that save the same registers call one routine for that, and the
// entries for more registers fall into those for fewer. Example: libgcc's __riscv_save_4 lowers the
// stack pointer as far as for 12 registers, and raises it by what t1 counts before it comes back.
// Remedy: the code is followed, so that both the amounts and the places are known.
bool read_save_routine(InstructionDecoder& decoder, const CodeReader& around, Address address,
                       Instruction& out);

}  // namespace whocall::riscv
