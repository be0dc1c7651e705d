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

// Code that was made while the program ran: the mapping of no file around `address` that may be
// executed. Opens /proc/self/maps.
bool find_made_code(std::uintptr_t address, std::uintptr_t& begin, std::uintptr_t& end);

}  // namespace whocall::runtime
