// The main program in memory, found by what the kernel told it.
#pragma once

#include <optional>

#include "arch/architecture.h"
#include "memory/memory.h"
#include "process/auxiliary_vector.h"
#include "process/modules/loaded_elf.h"

namespace whocall {

// The image that AT_PHDR leads to. Its program headers mostly follow its ELF header; where a tool
// has moved them (patchelf puts them behind all else when it needs room for one more), they are
// enough if they tell their own link address. A miss without AT_PHDR, or when neither can be read.
std::optional<LoadedElf> read_loaded_program(const Memory& memory, const AuxiliaryVector& auxiliary,
                                             const Architecture& arch);

}  // namespace whocall
