// Where a file has its global offset table.
#pragma once

#include "arch/code_model.h"
#include "object/elf_file.h"

namespace whocall {

// By the dynamic table, and by the start-up code; of a static file of MIPS, whose code uses it all
// the same, by the section .got. The file must outlive it.
GlobalTable global_table(const ElfFile& file);

}  // namespace whocall
