// An ELF image as it lies in the memory of a process, told by its own headers there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "base/budget.h"
#include "memory/memory.h"
#include "object/elf_file.h"

namespace whocall {

struct LoadedElf {
  Address header = 0;           // runtime address of the ELF header
  Address bias = 0;             // runtime address = link address + bias (modulo 2^64)
  std::uint16_t type = 0;       // ET_*
  Address entry = 0;            // link address
  Address program_headers = 0;  // runtime address
  std::vector<ElfSegment> segments;
};

// The image whose ELF header lies at `header` (runtime address); a miss when none does, when it is
// of another architecture, or when it loads nothing.
std::optional<LoadedElf> read_loaded_elf(const Memory& memory, Address header,
                                         const Architecture& arch);

// From the first to the last byte of the PT_LOAD segments, as runtime addresses; empty when there
// are none, or when they claim to reach around the end of the address space.
AddressRange loaded_range(std::span<const ElfSegment> segments, Address bias);

// Whether a file's PT_LOAD segments are those of the image in memory. File sizes are left out:
// debug files have none.
bool same_layout(const ElfFile& file, const LoadedElf& image);

// The first segment of a type (PT_*); null when there is none.
const ElfSegment* segment_of_type(std::span<const ElfSegment> segments, std::uint32_t type);

// The GNU build id that lies in memory, lower-case hex; empty when there is none or when its page
// cannot be read.
std::string build_id_in_memory(const Memory& memory, std::span<const ElfSegment> segments,
                               Address bias, const Architecture& arch);

// The file that the image was loaded from, put together again from memory. Written data is as the
// process left it, except that addresses in the dynamic table are made link addresses again; what
// is not loaded (section headers, .symtab) is gone. Null unless every loaded byte can be read, and
// where the budget has no room for it.
std::shared_ptr<const ElfFile> rebuild_file(const Memory& memory, const LoadedElf& image,
                                            const Architecture& arch, const std::string& name,
                                            Budget& budget);

}  // namespace whocall
