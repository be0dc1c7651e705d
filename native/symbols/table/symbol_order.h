// Sorting functions by address, and the order of those that share one.
#pragma once

#include "symbols/table/symbol_list.h"

namespace whocall {

// Sorts by start. At one start the name to show comes first: with a name before without, with a
// size before without, then symtab before dynsym and the other sources in their order, global
// before weak before local, the shorter name, the alphabet, the larger size. A radix sort on the
// starts, so a million symbols cost a few passes; names are read of those only that share a start.
void sort_symbols(SymbolList& symbols);

// The same, and of symbols with one start and one name only the first stays.
void sort_distinct_symbols(SymbolList& symbols);

}  // namespace whocall
