// The unwind rows of Breakpad's symbol files, in the words of DWARF's tables.
//
//   STACK CFI INIT 1136 22 .cfa: $rsp 8 + .ra: .cfa -8 + ^     address, size, rules
//   STACK CFI 1137 .cfa: $rsp 16 + $rbp: .cfa -16 + ^          from there on; what is not named
//   stays
//
// A rule is a register and an expression in postfix notation: + - * / % @ (down to a multiple) and
// ^ (what memory holds there). .cfa is the CFA, .ra the return address. Source: "Breakpad Symbol
// File Format" (docs/symbol_files.md of the project).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "arch/architecture.h"

namespace whocall {

// A .debug_frame; `base` is added to all addresses. Rows from the first one on that makes no sense
// are left out of their function. Empty when the text has no rows. Takes time linear in the text.
std::vector<std::byte> debug_frame_of_breakpad(std::string_view text, Address base,
                                               const Architecture& arch);

}  // namespace whocall
