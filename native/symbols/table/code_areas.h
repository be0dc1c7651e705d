// Where a file has code.
#pragma once

#include <vector>

#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

// Link address ranges of the executable sections or, where there are none (the section headers are
// gone), of the executable segments; sorted by their start.
std::vector<AddressRange> code_parts(const ElfFile& file);

// The same, joined where they touch or overlap.
std::vector<AddressRange> code_areas(const ElfFile& file);

// Ranges sorted, joined where they touch or overlap, without empty ones.
std::vector<AddressRange> united(std::vector<AddressRange> ranges);

}  // namespace whocall
