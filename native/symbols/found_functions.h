// The whole function table: what symbols and tables tell, and what only the code shows.
#pragma once

#include <vector>

#include "symbols/function_starts.h"
#include "symbols/inferred_names.h"
#include "symbols/symbol_table.h"

namespace whocall {

struct FoundFunction {
  Symbol symbol;  // without a name where none is known
  StartWitnesses witnesses;
};

// All symbols of the table, aliases included, and the functions between them that `starts` found,
// which end where the next start lies, as symbols without a size do. Sorted by start.
std::vector<FoundFunction> found_functions(const SymbolTable& table, const FunctionStarts& starts);

// Gives functions without a name the inferred one, which `names` owns.
void add_inferred_names(const InferredNames& names, std::vector<FoundFunction>& functions);

}  // namespace whocall
