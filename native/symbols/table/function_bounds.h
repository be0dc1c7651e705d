// Where functions end, and functions that only the unwind tables know.
#pragma once

#include <vector>

#include "base/address.h"
#include "symbols/table/symbol_list.h"

namespace whocall {

// Settles the ends of `symbols` (sorted by sort_symbols) that have no size of their own, and adds
// an unnamed function for each range of `fdes` that no symbol accounts for; keeps them sorted.
//   - A symbol without a size ends at the next start of any symbol or FDE, where the FDE that
//     starts with it ends, or with its section, whichever comes first.
//   - One that lies inside a sized function is a label in it, as in hand-written assembly: it keeps
//     an empty range, so that it does not take the function's addresses away (gdb does likewise).
//   - One that shares its start with a sized symbol shares its end.
//   - An FDE that starts inside a sized function (a part with rows of its own) adds nothing.
// `fdes` and `sections` (executable ranges) may come in any order. Link addresses.
void resolve_bounds(SymbolList& symbols, std::vector<AddressRange> fdes,
                    const std::vector<AddressRange>& sections);

}  // namespace whocall
