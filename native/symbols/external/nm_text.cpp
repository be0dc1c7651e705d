// What nm prints, and the kernel's System.map and /proc/kallsyms, which look like it.
//
//   0000000000001136 T main              nm, nm -n, System.map
//   0000000000001136 0000000000000022 T main    nm -S
//   main T 1136 22                        nm -P
//   main  |0000000000001136|   T  |  FUNC|0000000000000022|     |.text      nm -f sysv
//
// Sources: nm's manual; POSIX, "nm".
#include <array>

#include "base/text_lines.h"
#include "symbols/external/list_formats.h"

namespace whocall {
namespace {

// Of what stands in code: T text, W weak, i indirect function, u unique global.
bool is_code_type(char type) {
  constexpr std::string_view kTypes = "tTwWiu";
  return kTypes.find(type) != std::string_view::npos;
}

bool is_type(std::string_view word) {
  constexpr std::string_view kTypes = "AaBbCcDdGgIiNnpRrSsTtUuVvWw-?";
  return word.size() == 1 && kTypes.find(word.front()) != std::string_view::npos;
}

struct NmRow {
  std::optional<Address> address;
  std::uint64_t size = 0;
  char type = '?';
  std::string_view name;
};

std::optional<NmRow> read_columns(std::string_view line) {
  NmRow row;
  const std::string_view first = take_word(line);
  if (is_type(first)) {
    row.name = trimmed(line);  // undefined: neither address nor size
    return first == "U" || first == "w" || first == "v" ? std::optional(row) : std::nullopt;
  }
  row.address = number(first, 16);
  std::string_view type = take_word(line);
  if (row.address && !is_type(type)) {
    const auto size = number(type, 16);
    if (!size) {
      return std::nullopt;
    }
    row.size = *size;
    type = take_word(line);
  }
  if (!row.address || !is_type(type)) {
    return std::nullopt;
  }
  row.type = type.front();
  // Behind a tab: the source line of nm -l, or the module of kallsyms.
  const std::string_view rest = trimmed(line);
  row.name = rest.substr(0, rest.find('\t'));
  return row;
}

std::optional<NmRow> read_posix(std::string_view line) {
  NmRow row;
  row.name = take_word(line);
  const std::string_view type = take_word(line);
  const std::string_view address = take_word(line);
  const std::string_view size = take_word(line);
  row.address = number(address, 16);
  const auto bytes = size.empty() ? std::optional<std::uint64_t>(0) : number(size, 16);
  if (row.name.empty() || !is_type(type) || (!row.address && !address.empty()) || !bytes ||
      !trimmed(line).empty()) {
    return std::nullopt;
  }
  row.size = *bytes;
  row.type = type.front();
  return row;
}

std::string_view take_field(std::string_view& line) {
  const std::string_view field = line.substr(0, line.find('|'));
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return trimmed(field);
}

std::optional<NmRow> read_sysv(std::string_view line) {
  NmRow row;
  // A demangled operator| has bars of its own: the other columns are counted from the end.
  std::size_t bar = line.size();
  for (unsigned column = 0; column < 6 && bar != std::string_view::npos && bar != 0; ++column) {
    bar = line.rfind('|', bar - 1);
  }
  if (bar == std::string_view::npos || bar == 0) {
    return std::nullopt;
  }
  row.name = trimmed(line.substr(0, bar));
  line.remove_prefix(bar + 1);
  row.address = number(take_field(line), 16);
  const std::string_view type = take_field(line);
  take_field(line);
  row.size = number(take_field(line), 16).value_or(0);
  if (!is_type(type) || row.name.empty()) {
    return std::nullopt;
  }
  row.type = type.front();
  return row;
}

std::optional<NmRow> read_row(std::string_view line) {
  if (auto row = read_columns(line)) {
    return row;
  }
  if (auto row = read_posix(line)) {
    return row;
  }
  return read_sysv(line);
}

}  // namespace

bool is_nm_row(std::string_view line) { return read_row(line).has_value(); }

void read_nm_text(std::string_view text, ListedNames& list) {
  list.format = "a list of nm";
  while (!text.empty()) {
    const auto row = read_row(take_line(text));
    if (!row || !row->address || !is_code_type(row->type)) {
      continue;
    }
    ListedName& symbol = list.names.emplace_back();
    symbol.address = *row->address;
    symbol.size = row->size;
    symbol.name = row->name.substr(0, row->name.find('@', 1));
    symbol.global = row->type != 't' && row->type != 'i';
    symbol.weak = row->type == 'w' || row->type == 'W';
  }
}

}  // namespace whocall
