// The instructions of a piece of a process's code with their operands.
#pragma once

#include <cstddef>
#include <vector>

#include "arch/operation.h"
#include "base/address.h"
#include "process/process_image.h"

namespace whocall {

// Of `size` bytes from the runtime address `begin` on, one after the other, and at most `most`.
// Bytes that are no instruction are passed over; where the instruction set is not decoded, or
// nothing can be read, the list is empty.
std::vector<Operation> list_operations(const ProcessImage& process, Address begin, std::size_t size,
                                       std::size_t most);

}  // namespace whocall
