// The instruction set of an ELF file.
#pragma once

#include <string>

#include "arch/architecture.h"
#include "object/elf_file.h"

namespace whocall {

// Throws Error, with a list of those that are known, when it is none of them.
const Architecture& architecture_of(const ElfFile& file);

// The same by what an ELF header says; `path` is for the error.
const Architecture& require_architecture(const std::string& path, const ElfIdentity& identity);

}  // namespace whocall
