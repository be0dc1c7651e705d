#include "symbols/table/bfd_table.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "symbols/table/function_bounds.h"
#include "symbols/table/symbol_order.h"

namespace whocall {
namespace {

// Page-sized sections round the last function of each run of code up.
constexpr std::uint64_t kPage = 4096;

std::vector<AddressRange> pages_of(const SymbolList& symbols) {
  std::vector<AddressRange> pages;
  for (const CompactSymbol& symbol : symbols.records()) {
    const Address page = symbol.start / kPage * kPage;
    const bool is_adjacent = !pages.empty() && page <= pages.back().end;
    if (!is_adjacent) {
      pages.push_back({page, page});
    }
    if (page <= ~Address{0} - kPage) {
      pages.back().end = page + kPage;
    }
  }
  return pages;
}

}  // namespace

std::shared_ptr<const SymbolTable> table_from_bfd(const std::string& path) {
  BfdLibrary* library = BfdLibrary::get();
  if (library == nullptr) {
    throw Error(path, "is not an ELF file, and " + BfdLibrary::load_failure());
  }
  return table_from_bfd(*library->open(path));
}

std::shared_ptr<const SymbolTable> table_from_bfd(BfdFile& file) {
  SymbolList symbols;
  for (const BfdSymbol& each : file.symbols()) {
    if (each.is_function) {
      Symbol symbol;
      symbol.range = {each.address, each.address + each.size};
      symbol.name = each.name;
      symbol.source = NameSource::bfd;
      symbol.global = each.global;
      symbol.weak = each.weak;
      symbol.exact_end = each.size != 0;
      symbols.add(symbol);
    }
  }
  sort_distinct_symbols(symbols);
  resolve_bounds(symbols, {}, pages_of(symbols));
  return SymbolTable::from_symbols(std::move(symbols));
}

}  // namespace whocall
