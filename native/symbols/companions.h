// Files that hold names for another one: its separate debug file, and the small symbol table that
// some distributions leave in a stripped file.
#pragma once

#include "files/debug_files.h"
#include "object/elf_file.h"
#include "process/process_image.h"
#include "symbols/table/companion.h"

namespace whocall {

// All that `file` has on this machine; `debug` is what find_debug_file() says. Nothing but
// debuginfod's watch throws.
Companions companions_of(const ElfFile& file, const FileSearch& search, DebugFile debug);

}  // namespace whocall
