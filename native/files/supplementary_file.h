// The file that dwz moved the shared parts of several files' debug info to.
#pragma once

#include <memory>

#include "files/file_search.h"
#include "object/elf_file.h"

namespace whocall {

// That of a file with debug info, which names it in .gnu_debugaltlink or, since DWARF 5, in
// .debug_sup: by its name, from where `file` lies, and by its build id below the debug directories,
// as gdb does; below the sysroot first. Null when `file` has none, and when none on this machine
// has the build id that it asks for. Does not throw.
std::shared_ptr<const ElfFile> find_supplementary_file(const ElfFile& file,
                                                       const FileSearch& search);

}  // namespace whocall
