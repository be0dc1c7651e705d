// Functions in the gaps between those that unwind tables delimit.
#pragma once

#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"

namespace whocall {

// What the file's unwind tables delimit; ascending link addresses, apart from each other.
std::vector<AddressRange> ranges_of_tables(const ElfFile& file);

// Whether code begins there right behind what a table delimits, and no table covers it. `delimited`
// are ranges_of_tables().
bool begins_gap(const std::vector<AddressRange>& delimited, Address address);

// The aligned places in the gaps of `areas`, behind an end of the flow, to which functions jump
// that a table covers; ascending link addresses, some of them more than once.
std::vector<Address> gap_starts(const ElfFile& file, const Architecture& arch,
                                const std::vector<AddressRange>& areas,
                                const std::vector<AddressRange>& delimited);

}  // namespace whocall
