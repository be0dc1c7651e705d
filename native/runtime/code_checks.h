// What the code says of a frame that nothing but a frame pointer leads to. The chain goes on
// through functions that have no part in it, and would leave out their callers; and what looks like
// a chain on a stack may lead to any address.
#pragma once

#include <cstdint>

#include "runtime/modules.h"

namespace whocall::runtime {

// Whether a call stands before the return address, which is as it lay on the stack.
bool is_behind_call(std::uintptr_t return_address);

// False where the function around `lookup` is known by a symbol, and has not made its stack pointer
// the frame pointer before that address.
bool may_be_chained(const Module& module, std::uintptr_t lookup);

}  // namespace whocall::runtime
