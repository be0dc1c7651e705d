// Functions in the gaps between those that unwind tables delimit.
#pragma once

#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"

namespace whocall {

// The aligned places in the gaps of `areas`, behind an end of the flow, to which functions jump
// that a table covers; ascending link addresses, some of them more than once.
std::vector<Address> gap_starts(const ElfFile& file, const Architecture& arch,
                                const std::vector<AddressRange>& areas);

}  // namespace whocall
