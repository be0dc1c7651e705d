#include "symbols/nearest_symbol.h"

#include <cstdint>

#include "base/hex.h"

namespace whocall {
namespace {

// How many symbols start at or below `link`.
std::size_t count_up_to(const SymbolTable& table, Address link) {
  std::size_t first = 0;
  std::size_t last = table.symbols().size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (table.symbols()[middle].range.begin <= link) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

// What tells that another function begins at `start`: "fde", "call-target".
std::string teller_of(const SymbolTable& table, const FunctionStarts* starts, Address start) {
  const std::uint32_t index = table.find(start);
  if (index != SymbolTable::kNone && table.symbols()[index].range.begin == start) {
    return std::string(to_string(table.symbols()[index].source));
  }
  const auto evidence =
      starts != nullptr ? starts->evidence_at(start).list() : std::vector<StartEvidence>();
  return evidence.empty() ? std::string() : std::string(to_string(evidence.front()));
}

std::string reason_for(const Symbol& symbol, const SymbolTable& table, const FunctionStarts* starts,
                       Address link) {
  if (symbol.range.empty()) {
    return "it is a label without a size, not a function";
  }
  if (symbol.exact_end) {
    return "its " + std::to_string(symbol.range.size()) + " bytes end at " + hex(symbol.range.end);
  }
  const auto shown = starts != nullptr ? starts->function_at(link) : std::nullopt;
  const Address end = symbol.range.contains(link) && shown ? shown->begin : symbol.range.end;
  const std::string teller = teller_of(table, starts, end);
  return teller.empty() ? "what it may cover ends at " + hex(end)
                        : "another function begins at " + hex(end) + " (" + teller + ")";
}

}  // namespace

std::optional<NearestSymbol> nearest_symbol(const ElfFile& file, const SymbolTable& table,
                                            const FunctionStarts* starts, Address link) {
  const ElfSection* section = file.section_at(link);
  for (std::size_t i = count_up_to(table, link); i > 0; --i) {
    const Symbol symbol = table.symbols()[i - 1];
    if (section != nullptr && symbol.range.begin < section->address) {
      break;
    }
    if (symbol.name.empty()) {
      continue;
    }
    if (symbol.range.contains(link) && symbol.exact_end) {
      break;
    }
    return NearestSymbol{std::string(symbol.name), symbol.source, symbol.range.begin,
                         reason_for(symbol, table, starts, link)};
  }
  return std::nullopt;
}

}  // namespace whocall
