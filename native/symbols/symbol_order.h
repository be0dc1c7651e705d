// Sorting functions by address, and the order of those that share one.
#pragma once

#include <vector>

#include "symbols/symbol.h"

namespace whocall {

// Sorts by start. At one start the name to show comes first: with a name before without, with a
// size before without, then symtab before dynsym and the other sources in their order, global
// before weak before local, the shorter name, the alphabet. A radix sort on the starts, so a
// million symbols cost a few passes.
void sort_symbols(std::vector<Symbol>& symbols);

// Of sorted symbols with one start and one name, only the first stays.
void drop_repetitions(std::vector<Symbol>& symbols);

}  // namespace whocall
