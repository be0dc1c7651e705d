// The whole function table: what symbols and tables tell, and what only the code shows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "symbols/discovery/function_starts.h"
#include "symbols/inferred/inferred_names.h"
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

// The word for what the name comes from, or the start where there is no name.
std::string_view source_of(const FoundFunction& function);

// The whole table: all symbols, aliases included, and the functions between them that `starts`
// found, which end where the next start lies, as symbols without a size do. Sorted by start.
// visit(index, range, evidence) for one after the other, without reading a name; the index is
// SymbolTable::kNone for what only the code shows.
template <typename Visit>
void for_each_found_range(const SymbolTable& table, const FunctionStarts& starts, Visit visit) {
  const SymbolRange symbols = table.symbols();
  const auto count = static_cast<std::uint32_t>(symbols.size());
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < starts.all().size(); ++i) {
    const FunctionStart& start = starts.all()[i];
    for (; next < count && symbols.start(next) < start.address; ++next) {
      visit(next, symbols.range(next), evidence_of(symbols.source(next)));
    }
    const auto range = starts.function_of(i);
    bool known = false;
    for (; next < count && symbols.start(next) == start.address; ++next) {
      AddressRange own = symbols.range(next);
      if (!symbols.exact_end(next) && range) {
        own.end = std::min(own.end, range->end);
      }
      visit(next, own, start.evidence);
      known = true;
    }
    if (!known && start.evidence.is_function() && range) {
      visit(SymbolTable::kNone, *range, start.evidence);
    }
  }
  for (; next < count; ++next) {
    visit(next, symbols.range(next), evidence_of(symbols.source(next)));
  }
}

// The same with names: visit(Symbol, StartEvidenceSet).
template <typename Visit>
void for_each_found_function(const SymbolTable& table, const FunctionStarts& starts, Visit visit) {
  for_each_found_range(
      table, starts,
      [&](std::uint32_t index, const AddressRange& range, StartEvidenceSet evidence) {
        Symbol symbol =
            index == SymbolTable::kNone ? function_without_symbol(range) : table.symbols()[index];
        symbol.range = range;
        visit(symbol, evidence);
      });
}

// The whole table in 16 bytes a function, and each made when it is looked at.
class FoundFunctions {
 public:
  FoundFunctions() = default;
  // The symbols alone.
  explicit FoundFunctions(std::shared_ptr<const SymbolTable> table);
  FoundFunctions(std::shared_ptr<const SymbolTable> table, const FunctionStarts& starts,
                 std::shared_ptr<const InferredNames> inferred);

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  // With the inferred name where it has no other; names live as long as the table and those.
  [[nodiscard]] FoundFunction operator[](std::size_t index) const;

 private:
  struct Row {
    Address end = 0;
    std::uint32_t symbol = 0;  // of the table; where it has no symbol, an index in bare_
    std::uint32_t evidence : 31 = 0;
    std::uint32_t is_bare : 1 = 0;
  };
  void add(std::uint32_t symbol, const AddressRange& range, StartEvidenceSet evidence);

  std::shared_ptr<const SymbolTable> table_;
  std::shared_ptr<const InferredNames> inferred_;  // null where nothing is inferred
  std::vector<Row> rows_;
  std::vector<Address> bare_;  // starts of functions that only the code shows
};

}  // namespace whocall
