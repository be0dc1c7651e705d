// A file that nobody runs, as if it were loaded at its link addresses.
#pragma once

#include <memory>

#include "object/elf_file.h"
#include "process/process_image.h"

namespace whocall {

// No threads, one module, memory from the file's segments: so that what works on processes works on
// files.
std::unique_ptr<ProcessImage> image_of_file(const std::shared_ptr<const ElfFile>& file,
                                            const Architecture& arch);

}  // namespace whocall
