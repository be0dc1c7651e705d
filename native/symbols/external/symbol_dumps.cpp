// What `objdump -t` and `readelf -sW` print of a symbol table.
//
//   0000000000001139 g     F .text	000000000000000b              main
//      23: 0000000000001139    11 FUNC    GLOBAL DEFAULT   14 main
//
// Sources: the manuals of objdump ("--syms") and readelf.
#include "base/text_lines.h"
#include "symbols/external/list_formats.h"

namespace whocall {
namespace {

constexpr std::size_t kFlags = 7;  // columns between address and section

std::optional<ListedName> read_objdump(std::string_view line) {
  ListedName symbol;
  const auto address = number(take_word(line), 16);
  const std::size_t tab = line.find('\t');
  if (!address || line.size() < kFlags + 2 || line[kFlags] != 'F' ||
      tab == std::string_view::npos) {
    return std::nullopt;
  }
  symbol.address = *address;
  symbol.global = line[1] == 'g' || line[1] == 'u' || line[2] == 'w';
  symbol.weak = line[2] == 'w';
  line.remove_prefix(tab);
  symbol.size = number(take_word(line), 16).value_or(0);
  line = trimmed(line);
  if (line.starts_with('.')) {  // .hidden, .protected: the visibility
    std::string_view rest = line;
    take_word(rest);
    line = trimmed(rest).empty() ? line : trimmed(rest);
  }
  symbol.name = line;
  return symbol;
}

std::optional<ListedName> read_readelf(std::string_view line) {
  ListedName symbol;
  take_word(line);  // its number
  const auto address = number(take_word(line), 16);
  const std::string_view size = take_word(line);
  const std::string_view type = take_word(line);
  const std::string_view binding = take_word(line);
  take_word(line);  // visibility
  const std::string_view section = take_word(line);
  if (!address || (type != "FUNC" && type != "IFUNC") || section == "UND") {
    return std::nullopt;
  }
  symbol.address = *address;
  symbol.size = (has_hex_prefix(size) ? hexadecimal(size) : number(size, 10)).value_or(0);
  symbol.global = binding != "LOCAL";
  symbol.weak = binding == "WEAK";
  symbol.name = take_word(line);
  if (symbol.name.ends_with("[...]")) {
    return std::nullopt;  // cut off for want of -W
  }
  return symbol;
}

}  // namespace

void read_symbol_dump(std::string_view text, ListedNames& list) {
  list.format = "a printed symbol table";
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    std::string_view rest = line;
    auto symbol = take_word(rest).ends_with(':') ? read_readelf(line) : read_objdump(line);
    if (symbol) {
      symbol->name = symbol->name.substr(0, symbol->name.find('@', 1));
      list.names.push_back(*symbol);
    }
  }
}

}  // namespace whocall
