// Unwinding rules as the bytes of a .debug_frame section.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "arch/architecture.h"
#include "unwind/rows/row.h"

namespace whocall {

// The rules of one function, or of a part of it. Link addresses; `rows` ascending and disjoint.
struct FunctionRows {
  AddressRange range;
  std::vector<UnwindRow> rows;
};

// One CIE, and an FDE for each run of rows without a gap: a debugger finds nothing where nothing is
// known. Rows of signal frames are left out. DWARF 3, section 6.4.1, in the 32-bit format.
std::vector<std::byte> write_debug_frame(std::span<const FunctionRows> functions,
                                         const Architecture& arch);

}  // namespace whocall
