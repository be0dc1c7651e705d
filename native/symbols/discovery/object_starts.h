// Where objects begin in a file's data, as far as anything names their addresses.
#pragma once

#include <vector>

#include "arch/architecture.h"
#include "object/elf_file.h"
#include "symbols/discovery/data_words.h"

namespace whocall {

// Link addresses of words in `wanted`, ascending, each once: what pointers in data, instructions
// and symbols name. Some bytes that only look like an instruction's operand are among them.
std::vector<Address> object_starts(const ElfFile& file, const Architecture& arch,
                                   const DataWords& words, const AddressRange& wanted);

}  // namespace whocall
