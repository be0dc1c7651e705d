// The dynamic linker's own list of what it has loaded.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "memory/memory.h"
#include "process/modules/loaded_elf.h"
#include "process/process_image.h"

namespace whocall {

struct LinkMapEntry {
  std::string path;     // as the linker was asked for it; empty for the main program
  Address bias = 0;     // l_addr: runtime address = link address + bias, modulo the address size
  Address dynamic = 0;  // l_ld: runtime address of the dynamic table
};

// Walks the list that DT_DEBUG of the main program leads to (DT_MIPS_RLD_MAP on MIPS). Empty for
// static programs, before the linker has set it up, and when memory is missing; what can be read
// of a damaged list. The first entry is the main program.
std::vector<LinkMapEntry> read_link_map(const Memory& memory, const LoadedElf& program,
                                        const Architecture& arch);

// Where the structures of that list lie, as far as <link.h> describes them to debuggers, and its
// texts with the zeros at their ends: to the byte.
std::vector<AddressRange> link_map_places(const Memory& memory, const LoadedElf& program,
                                          const Architecture& arch);

// The image of an entry, by its header: one with the dynamic table that the entry tells.
std::optional<LoadedElf> read_listed_elf(const Memory& memory, const LinkMapEntry& entry,
                                         std::span<const Mapping> mappings,
                                         const Architecture& arch);

// Of a library without header and file: where it is linked at 0, to the mapping that its dynamic
// table lies in, so that it is told that it is missing. Else empty.
AddressRange range_to_dynamic_table(const LinkMapEntry& entry, std::span<const Mapping> mappings);

}  // namespace whocall
