// Instructions with their operands, by the capstone library.
#pragma once

#include <capstone.h>

#include <optional>

#include "arch/operation.h"
#include "base/byte_view.h"

namespace whocall {

// The instruction at the start of `code`, which stands at `address`; a miss for what is none.
std::optional<Operation> library_operation(cs_arch arch, cs_mode mode, ByteView code,
                                           Address address);

}  // namespace whocall
