// The whole function table: what symbols and tables tell, and what only the code shows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "symbols/inferred/inferred_names.h"
#include "symbols/starts/function_starts.h"
#include "symbols/table/symbol_table.h"

namespace whocall {

// What only the code shows.
inline Symbol function_without_symbol(const AddressRange& range) {
  Symbol symbol;
  symbol.range = range;
  symbol.source = NameSource::call_target;
  symbol.exact_end = false;
  return symbol;
}

struct FoundFunction {
  Symbol symbol;  // without a name where none is known
  StartEvidenceSet evidence;
};

// All symbols of the table, aliases included, and the functions between them that `starts` found,
// which end where the next start lies, as symbols without a size do. Sorted by start.
std::vector<FoundFunction> found_functions(const SymbolTable& table, const FunctionStarts& starts);

// The same, one after the other: visit(Symbol, StartEvidenceSet).
template <typename Visit>
void for_each_found_function(const SymbolTable& table, const FunctionStarts& starts, Visit visit) {
  const SymbolRange symbols = table.symbols();
  auto next = symbols.begin();
  for (std::size_t i = 0; i < starts.all().size(); ++i) {
    const FunctionStart& start = starts.all()[i];
    Symbol symbol;
    const auto read_next = [&] {
      symbol = next != symbols.end() ? *next : Symbol{};
      return next != symbols.end();
    };
    for (; read_next() && symbol.range.begin < start.address; ++next) {
      visit(symbol, evidence_of(symbol.source));
    }
    const auto range = starts.function_of(i);
    bool known = false;
    for (; read_next() && symbol.range.begin == start.address; ++next) {
      if (!symbol.exact_end && range) {
        symbol.range.end = std::min(symbol.range.end, range->end);
      }
      visit(symbol, start.evidence);
      known = true;
    }
    if (!known && start.evidence.is_function() && range) {
      visit(function_without_symbol(*range), start.evidence);
    }
  }
  for (; next != symbols.end(); ++next) {
    const Symbol symbol = *next;
    visit(symbol, evidence_of(symbol.source));
  }
}

// Gives functions without a name the inferred one, which `names` owns.
void add_inferred_names(const InferredNames& names, std::vector<FoundFunction>& functions);

}  // namespace whocall
