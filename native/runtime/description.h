// What is known of an address: the module it lies in, and the function.
#pragma once

#include <cstdint>

#include "runtime/whocall.h"

namespace whocall::runtime {

// `lookup` is a byte of the code that `address` belongs to. `thorough`: where the dynamic linker
// knows of no file there, the list of mappings is read.
void describe(std::uintptr_t address, std::uintptr_t lookup, whocall_trust trust, bool thorough,
              whocall_frame& frame);

}  // namespace whocall::runtime
