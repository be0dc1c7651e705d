#include "symbols/external/list_table.h"

#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/text_lines.h"
#include "symbols/external/name_file.h"
#include "symbols/table/function_bounds.h"
#include "symbols/table/symbol_order.h"

namespace whocall {
namespace {

Symbol symbol_of(const ListedName& name) {
  Symbol symbol;
  const bool wraps = name.size > ~Address{0} - name.address;
  symbol.range = {name.address, wraps ? name.address : name.address + name.size};
  symbol.name = name.name;
  symbol.source = NameSource::symbol_file;
  symbol.global = name.global;
  symbol.weak = name.weak;
  symbol.exact_end = !symbol.range.empty();
  return symbol;
}

// No sections tell where the last function ends: it goes on to the end of its page.
std::vector<AddressRange> areas_of(const SymbolList& symbols) {
  constexpr std::uint64_t kPage = 4096;
  if (symbols.empty()) {
    return {};
  }
  const Address last = symbols.start(symbols.size() - 1) / kPage * kPage;
  return {{symbols.start(0), last > ~Address{0} - kPage ? ~Address{0} : last + kPage}};
}

}  // namespace

std::optional<ListTable> table_from_breakpad(const std::string& path) {
  if (!as_text(MappedFile::open(path)->bytes()).starts_with("MODULE ")) {
    return std::nullopt;
  }
  auto names = std::make_shared<const ListedNames>(read_name_file(path));
  SymbolList symbols;
  symbols.reserve(names->names.size());
  for (const ListedName& name : names->names) {
    symbols.add(symbol_of(name));
  }
  sort_distinct_symbols(symbols);
  resolve_bounds(symbols, {}, areas_of(symbols));
  return ListTable{SymbolTable::from_symbols(std::move(symbols)), std::move(names)};
}

}  // namespace whocall
