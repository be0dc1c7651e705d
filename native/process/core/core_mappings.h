// The mappings of a dumped process: protections from the segments, files from NT_FILE.
#pragma once

#include <span>
#include <vector>

#include "object/elf_file.h"
#include "process/core/core_notes.h"
#include "process/process_image.h"

namespace whocall {

// Sorted and disjoint. Files that no segment covers (gcore leaves them out) have permissions_known
// unset. Where two segments or two files overlap, the one that begins lower wins.
std::vector<Mapping> core_mappings(std::span<const ElfSegment> segments,
                                   std::span<const MappedFileNote> notes);

}  // namespace whocall
