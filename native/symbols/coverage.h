// How much of a file's code its unwind tables cover.
#pragma once

#include <cstdint>

#include "object/elf_file.h"

namespace whocall {

struct CodeCoverage {
  std::uint64_t code_bytes = 0;  // in executable sections, or segments without section headers
  std::uint64_t cfi_bytes = 0;   // of these, covered by .eh_frame, .debug_frame or .ARM.exidx
};

CodeCoverage measure_coverage(const ElfFile& file);

}  // namespace whocall
