// Core files: those of Linux, gdb's gcore and qemu-user.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "memory/memory.h"
#include "object/elf_file.h"
#include "process/process_image.h"

namespace whocall {

// Opens a core file. Throws Error (not a core, unknown architecture, unreadable); what is missing
// of a truncated core becomes a warning.
std::unique_ptr<ProcessImage> open_core(const std::string& path, const FileSearch& search);

// The same in steps, for who stands between the memory and its readers.
struct CoreFile {
  std::string path;
  std::shared_ptr<const ElfFile> file;
  std::vector<ElfNote> notes{};  // views into the file
  const Architecture* arch = nullptr;
};
CoreFile read_core_file(const std::string& path);
std::unique_ptr<Memory> dumped_memory(const CoreFile& core);
std::unique_ptr<ProcessImage> open_core(const CoreFile& core, std::unique_ptr<Memory> memory,
                                        const FileSearch& search);

}  // namespace whocall
