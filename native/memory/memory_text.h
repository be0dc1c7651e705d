// Strings in the memory of a process.
#pragma once

#include <string>

#include "memory/memory.h"

namespace whocall {

// The NUL-terminated string at a runtime address; empty when it cannot be read, or has no NUL
// within `limit` bytes.
std::string read_string(const Memory& memory, Address address, std::size_t limit = 4096);

}  // namespace whocall
