#include "symbols/external/name_rows.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text_lines.h"

namespace whocall {
namespace {

constexpr std::size_t kLongestHeading = 64;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text.substr(0, kLongestHeading)) {
    if (is_letter(c)) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

struct Heading {
  std::string_view letters;
  NameColumn column;
};

using Kind = NameColumn::Kind;

// Ghidra's symbol table and function list, IDA's function window, radare2's aflj and isj, and what
// scripts call these things.
constexpr std::array kHeadings = {
    Heading{"name", {Kind::name, 0}},
    Heading{"functionname", {Kind::name, 1}},
    Heading{"symbol", {Kind::name, 2}},
    Heading{"symbolname", {Kind::name, 3}},
    Heading{"function", {Kind::name, 4}},
    Heading{"label", {Kind::name, 5}},
    Heading{"address", {Kind::address, 0}},
    Heading{"addr", {Kind::address, 1}},
    Heading{"vaddr", {Kind::address, 2}},
    Heading{"startea", {Kind::address, 3}},
    Heading{"startaddress", {Kind::address, 4}},
    Heading{"start", {Kind::address, 5}},
    Heading{"entrypoint", {Kind::address, 6}},
    Heading{"entry", {Kind::address, 7}},
    Heading{"location", {Kind::address, 8}},
    Heading{"ea", {Kind::address, 9}},
    Heading{"offset", {Kind::address, 10}},
    Heading{"rva", {Kind::address, 11}},
    Heading{"size", {Kind::size, 0}},
    Heading{"functionsize", {Kind::size, 1}},
    Heading{"length", {Kind::size, 2}},
    Heading{"endea", {Kind::end, 0}},
    Heading{"endaddress", {Kind::end, 1}},
    Heading{"end", {Kind::end, 2}},
    Heading{"type", {Kind::type, 0}},
    Heading{"symboltype", {Kind::type, 1}},
    Heading{"kind", {Kind::type, 2}},
    Heading{"source", {Kind::origin, 0}},
};

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0;
  });
}

// The digits at the end of "WORD_00101136", "WORD.1136", "WORD_0x1136"; empty when there are none.
std::string_view digits_behind_word(std::string_view name) {
  const std::size_t at = name.find_last_of("_.");
  if (at == std::string_view::npos || at == 0) {
    return {};
  }
  std::string_view digits = name.substr(at + 1);
  if (has_hex_prefix(digits)) {
    digits.remove_prefix(2);
  }
  return is_hexadecimal(digits) ? digits : std::string_view();
}

}  // namespace

NameColumn name_column(std::string_view heading) {
  const std::string letters = letters_of(heading);
  const auto found = std::ranges::find(kHeadings, std::string_view(letters), &Heading::letters);
  return found == kHeadings.end() ? NameColumn() : found->column;
}

std::optional<Address> exported_address(std::string_view text) {
  text = trimmed(text);
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    if (!letters_of(text.substr(0, colon)).starts_with("ram")) {
      return std::nullopt;  // another space of addresses
    }
    text.remove_prefix(colon + 1);
  }
  if (text.ends_with('h') || text.ends_with('H')) {
    text.remove_suffix(1);
  }
  return hexadecimal(text);
}

bool is_named_function(std::string_view type, std::string_view origin) {
  static constexpr std::string_view kOthers[] = {"label",
                                                 "datalabel",
                                                 "data",
                                                 "object",
                                                 "obj",
                                                 "notype",
                                                 "sect",
                                                 "section",
                                                 "file",
                                                 "external",
                                                 "externalfunction",
                                                 "thunkfunction",
                                                 "class",
                                                 "library",
                                                 "namespace",
                                                 "parameter",
                                                 "localvar",
                                                 "import",
                                                 "tls",
                                                 "instructionlabel",
                                                 "variable",
                                                 "externallibrary"};
  const std::string kind = letters_of(type);
  return std::ranges::find(kOthers, std::string_view(kind)) == std::end(kOthers) &&
         letters_of(origin) != "default";
}

bool is_made_up(std::string_view name, Address address) {
  static constexpr std::string_view kWords[] = {"FUN",  "SUB",    "sub",  "fcn", "LAB",
                                                "loc",  "locret", "DAT",  "UNK", "unk",
                                                "func", "proc",   "code", "EXT", "function"};
  static constexpr std::string_view kBeginnings[] = {
      "thunk_FUN_", "j_",   "nullsub_", "unknown_libname_", "switchD_",   "caseD_",   "sym.imp.",
      "loc.imp.",   "fcn.", "loc.",     "entry.init",       "entry.fini", "section.", "int."};
  const auto begins = [name](std::string_view word) { return name.starts_with(word); };
  if (name.empty() || name == "entry0" || std::ranges::any_of(kBeginnings, begins)) {
    return true;
  }
  const std::string_view digits = digits_behind_word(name);
  if (digits.size() < 3 || digits.find_first_of("0123456789") == std::string_view::npos) {
    return false;  // sub_add is somebody's name
  }
  const auto made_from = hexadecimal(digits);
  const std::string_view word = name.substr(0, name.find_first_of("_."));
  return made_from == address || std::ranges::find(kWords, word) != std::end(kWords);
}

}  // namespace whocall
