// Files that the dynamic linker does not tell of: while it loads one, or where its lists cannot be
// asked without a lock. Found in the list of the process' mappings.
#pragma once

#include <cstdint>

#include "runtime/modules.h"

namespace whocall::runtime {

// The hexadecimal number at the beginning of a text.
std::uintptr_t leading_number(const char* text);

// Opens /proc/self/maps. False where `address` lies in no file that is mapped from its beginning,
// with an ELF header.
bool find_mapped_module(std::uintptr_t address, Module& module);

}  // namespace whocall::runtime
