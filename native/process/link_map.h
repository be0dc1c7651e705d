// The dynamic linker's own list of what it has loaded.
#pragma once

#include <string>
#include <vector>

#include "arch/architecture.h"
#include "memory/memory.h"
#include "process/loaded_image.h"

namespace whocall {

struct LinkMapEntry {
  std::string path;     // as the linker was asked for it; empty for the main program
  Address bias = 0;     // l_addr: runtime address = link address + bias, modulo the address size
  Address dynamic = 0;  // l_ld: runtime address of the dynamic table
};

// Walks the list that DT_DEBUG of the main program leads to (DT_MIPS_RLD_MAP on MIPS). Empty for
// static programs, before the linker has set it up, and when memory is missing; what can be read
// of a damaged list. The first entry is the main program.
std::vector<LinkMapEntry> read_link_map(const Memory& memory, const LoadedImage& program,
                                        const Architecture& arch);

}  // namespace whocall
