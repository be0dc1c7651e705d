// `_start` and `main` by what the start-up code hands to the C library; `_init` and `_fini`.
#pragma once

#include <vector>

#include "symbols/inferred_names.h"

namespace whocall {

// `_start`, `main` and, in musl's programs, the `_start_c` between them. The code at the file's
// entry point has to be the C library's, byte for byte, and in a file with imports what it calls
// has to be
// __libc_start_main.
std::vector<InferredName> startup_functions(const ElfFile& file, const Architecture& arch);

// These, and _init and _fini, which are what DT_INIT and DT_FINI name, where that begins the
// section of the same name (the linker's -init names others).
void infer_entry_names(const NameEvidence& evidence, std::vector<InferredName>& names);

}  // namespace whocall
