// How much of a file's code its unwind tables cover.
#pragma once

#include <cstdint>

#include "object/elf_file.h"

namespace whocall {

struct CodeCoverage {
  std::uint64_t code_bytes = 0;  // in executable sections, or segments without section headers
  std::uint64_t cfi_bytes = 0;   // of these, covered by FDEs of .eh_frame or .debug_frame
};

CodeCoverage measure_coverage(const ElfFile& file);

}  // namespace whocall
