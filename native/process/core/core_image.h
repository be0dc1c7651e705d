// The image of a process, of what a core tells, or another dump that tells the same.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "memory/memory.h"
#include "object/elf_parts.h"
#include "process/process_image.h"

namespace whocall {

struct CoreContents {
  std::string path;  // as it is called
  const Architecture* arch = nullptr;
  std::string lack;  // of what it announces ("it has 10 of 20 bytes"); empty: nothing
  std::vector<ElfSegment> segments;
  std::span<const ElfNote> notes;
  std::unique_ptr<Memory> memory;
  std::shared_ptr<const void> source;  // what all of them stand on
};

// Throws Error where there is no thread; what is missing beside becomes warnings.
std::unique_ptr<ProcessImage> image_of_core(CoreContents core, const FileSearch& search);

}  // namespace whocall
