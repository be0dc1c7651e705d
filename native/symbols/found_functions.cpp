#include "symbols/found_functions.h"

#include <algorithm>

namespace whocall {
namespace {

FoundFunction unnamed(const FunctionStart& start, const AddressRange& range) {
  Symbol symbol;
  symbol.range = range;
  symbol.source = NameSource::call_target;
  symbol.exact_end = false;
  return {symbol, start.witnesses};
}

}  // namespace

std::vector<FoundFunction> found_functions(const SymbolTable& table, const FunctionStarts& starts) {
  const auto symbols = table.symbols();
  std::vector<FoundFunction> found;
  found.reserve(symbols.size() + starts.all().size());
  std::size_t next = 0;
  for (const FunctionStart& start : starts.all()) {
    for (; next < symbols.size() && symbols[next].range.begin < start.address; ++next) {
      const Symbol symbol = symbols[next];
      found.push_back({symbol, witness_of(symbol.source)});
    }
    const auto range = starts.function_at(start.address);
    bool known = false;
    for (; next < symbols.size() && symbols[next].range.begin == start.address; ++next) {
      found.push_back({symbols[next], start.witnesses});
      Symbol& symbol = found.back().symbol;
      if (!symbol.exact_end && range) {
        symbol.range.end = std::min(symbol.range.end, range->end);
      }
      known = true;
    }
    if (!known && start.witnesses.is_function() && range) {
      found.push_back(unnamed(start, *range));
    }
  }
  for (; next < symbols.size(); ++next) {
    const Symbol symbol = symbols[next];
    found.push_back({symbol, witness_of(symbol.source)});
  }
  return found;
}

void add_inferred_names(const InferredNames& names, std::vector<FoundFunction>& functions) {
  for (FoundFunction& function : functions) {
    const InferredName* name =
        function.symbol.name.empty() ? names.at(function.symbol.range.begin) : nullptr;
    if (name != nullptr) {
      function.symbol.name = name->name;
      function.symbol.source = name->source;
    }
  }
}

}  // namespace whocall
