#include "symbols/found_functions.h"

namespace whocall {

std::vector<FoundFunction> found_functions(const SymbolTable& table, const FunctionStarts& starts) {
  std::vector<FoundFunction> found;
  found.reserve(table.symbols().size() + starts.all().size());
  for_each_found_function(table, starts, [&](const Symbol& symbol, StartEvidenceSet evidence) {
    found.push_back({symbol, evidence});
  });
  return found;
}

void add_inferred_names(const InferredNames& names, std::vector<FoundFunction>& functions) {
  InferredNameCursor cursor(names);
  for (FoundFunction& function : functions) {
    const InferredName* name =
        function.symbol.name.empty() ? cursor.at(function.symbol.range.begin) : nullptr;
    if (name != nullptr) {
      function.symbol.name = name->name;
      function.symbol.source = name->source;
    }
  }
}

}  // namespace whocall
