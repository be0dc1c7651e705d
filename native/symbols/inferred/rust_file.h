// Whether Rust's compiler made a file.
#pragma once

#include "object/elf_file.h"

namespace whocall {

// By what later releases of rustc note of themselves; else by the paths of the standard library,
// which panics bring along, in the section that holds `text`, the link address of any text.
bool is_rust_file(const ElfFile& file, Address text);

}  // namespace whocall
