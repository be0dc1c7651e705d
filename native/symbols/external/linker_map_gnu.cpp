// The link maps of GNU ld and gold (`-Map`).
//
//   .text           0x0000000000001050      0x11d
//    .text          0x0000000000001050       0x22 /usr/lib/x86_64-linux-gnu/Scrt1.o
//                   0x0000000000001050                _start
//    .text.a_very_long_name
//                   0x0000000000001139        0x6 prog.o
//                   0x00000000000011d0                etext = .
//
// Symbols are the global ones, demangled, without sizes. Sources: ld's manual, "-Map", and what ld
// 2.40 and gold 1.16 write.
#include <optional>

#include "base/text_lines.h"
#include "symbols/external/list_formats.h"

namespace whocall {
namespace {

// Folklore. Situation: the map has no local symbols. Example: static functions compiled with
// -ffunction-sections, where the input section .text.NAME holds the function NAME alone, of which
// the map tells address and size. Remedy: the section's name names the function. Sections that
// group functions (.text.startup) put a word before it; .text.unlikely.NAME may be the function or
// its cold part, and .text.sorted.N says nothing.
std::string_view function_of_section(std::string_view section) {
  constexpr std::string_view kText = ".text.";
  constexpr std::string_view kLinkOnce = ".gnu.linkonce.t.";
  if (section.starts_with(kLinkOnce)) {
    return section.substr(kLinkOnce.size());
  }
  if (!section.starts_with(kText)) {
    return {};
  }
  std::string_view name = section.substr(kText.size());
  for (const std::string_view group : {"unlikely", "sorted", "split"}) {
    if (name.starts_with(group) && (name.size() == group.size() || name[group.size()] == '.')) {
      return {};
    }
  }
  for (const std::string_view group : {"startup", "hot", "exit", "unknown"}) {
    if (name == group) {
      return {};
    }
    if (name.starts_with(group) && name[group.size()] == '.') {
      return name.substr(group.size() + 1);
    }
  }
  return name;
}

std::optional<std::uint64_t> take_number(std::string_view& line) {
  const std::string_view word = take_word(line);
  return has_hex_prefix(word) ? hexadecimal(word) : std::nullopt;
}

// "etext = .", "PROVIDE (etext = .)", "[!provide]", "(size before relaxing)", "ASSERT (...)".
bool is_statement(std::string_view text) {
  return text.empty() || text.find(" = ") != std::string_view::npos || text.starts_with("[!") ||
         text.starts_with("(size before") || text.starts_with("ASSERT (");
}

class GnuMap {
 public:
  explicit GnuMap(ListedNames& list) : list_(list) {}

  void add(std::string_view line) {
    const bool deep = line.starts_with("    ");
    if (!deep) {
      const bool output = !line.starts_with(' ');
      section_ = take_word(line);
      is_output_ = output;
      if (trimmed(line).empty()) {
        return;  // the numbers stand on the next line
      }
    }
    const auto address = take_number(line);
    const std::string_view rest = trimmed(line);
    if (!address) {
      return;
    }
    if (has_hex_prefix(rest)) {
      std::string_view words = rest;
      add_section(*address, take_number(words).value_or(0));
    } else if (deep && !is_statement(rest)) {
      ListedName& symbol = list_.names.emplace_back();
      symbol.address = *address;
      symbol.name = rest.substr(0, rest.find('@', 1));
      symbol.global = true;
      if (*address >= input_.begin && *address < input_.end) {
        symbol.limit = input_.end;
      }
    }
  }

 private:
  void add_section(Address address, std::uint64_t size) {
    const AddressRange range{address, address + size};
    if (is_output_) {
      if (section_ == ".text" && !range.empty()) {
        list_.text = range;
      }
      return;
    }
    input_ = range;
    const std::string_view name = function_of_section(section_);
    if (!name.empty() && !range.empty()) {
      list_.names.push_back({.address = address, .size = size, .name = name});
    }
  }

  ListedNames& list_;
  std::string_view section_;  // whose numbers are to come
  bool is_output_ = false;
  AddressRange input_{};  // of the input section that was seen last
};

}  // namespace

void read_gnu_map(std::string_view text, ListedNames& list) {
  list.format = "a linker map";
  GnuMap map(list);
  while (!text.empty()) {
    map.add(take_line(text));
  }
}

}  // namespace whocall
