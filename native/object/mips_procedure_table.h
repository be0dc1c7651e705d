// Procedure descriptors of MIPS, section .pdr: what the assembler was told of each function by
// .ent, .frame and .mask. Strip leaves them.
//
// Source: gas, "MIPS Dependent Features", -mpdr; struct pdr of <sym.h>, of which each file keeps
// eight words of 4 bytes: address, saved registers and where they lie, the same of the coprocessor,
// size of the frame, its register, the register of the return address. Of an address in a 64-bit
// file they are the lower half.
#pragma once

#include <vector>

#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

// Where functions begin, link addresses, in no order; a damaged table may say anything. Empty where
// the machine has no such table.
std::vector<Address> procedure_starts(const ElfFile& file);

}  // namespace whocall
