// How the flow enters the procedure linkage table (.plt), which is not one function but many.
#pragma once

#include <vector>

#include "arch/instruction.h"
#include "base/address.h"
#include "base/byte_view.h"
#include "unwind/analysis/function_analysis.h"

namespace whocall {

// Folklore. Situation: a program stops inside the dynamic linker's lazy binding, or right in a
// stub. Example: .plt of x86: slot 0 is `push GOT[1]; jmp *GOT[2]`, all others are
// `jmp *slot; push $index; jmp slot 0` (with IBT: `endbr64; push $index; jmp slot 0`). Remedy: each
// slot is entered as a called function is; so is the push behind its jump, while the symbol is not
// bound; slot 0 is entered with the index on the stack. Where calls leave the return address in a
// register, slots push nothing, and slot 0, which is longer, saves that register.
//
// `code` are the bytes from `begin` on, which is where the section begins (`table`) or a later
// slot.
std::vector<FunctionExit> linkage_table_entries(ByteView code, Address begin, Address table,
                                                std::uint64_t slot_size, const Architecture& arch,
                                                InstructionDecoder& decoder);

}  // namespace whocall
