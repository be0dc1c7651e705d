// Instructions of an ELF file.
#pragma once

#include <memory>

#include "arch/instruction.h"
#include "object/elf_file.h"

namespace whocall {

// For code at link addresses; null where the instruction set is not decoded. Not to be used longer
// than the file.
std::unique_ptr<InstructionDecoder> decoder_for(const ElfFile& file, const Architecture& arch);

}  // namespace whocall
