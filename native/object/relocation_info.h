// What the word r_info of a relocation says.
#pragma once

#include <cstdint>

#include "object/elf_file.h"

namespace whocall {

struct RelocationInfo {
  std::uint32_t symbol = 0;  // index in the symbol table; 0: none
  std::uint32_t type = 0;    // R_*
};

// `info` as the file's byte order and word size read it. 64-bit MIPS has the symbol in the first 4
// bytes, another one in the fifth, and three types one behind the other's result, the first in the
// last byte: that one is told.
RelocationInfo relocation_info(const ElfFile& file, std::uint64_t info);

}  // namespace whocall
