// The calls that a compiler inlined at an address.
#pragma once

#include <vector>

#include "base/address.h"
#include "object/dw/libdw.h"

namespace whocall {

// `function` and the DW_TAG_inlined_subroutine DIEs below it that cover `address`, each inside the
// one before.
std::vector<Dwarf_Die> inlined_chain(const Dwarf_Die& function, Address address);

// The function's name as the file has it (mangled where it says that); empty when it has none.
std::string function_name(Dwarf_Die& die);

}  // namespace whocall
