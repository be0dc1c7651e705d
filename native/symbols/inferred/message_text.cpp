#include "symbols/inferred/message_text.h"

#include <algorithm>
#include <array>

namespace whocall {
namespace {

constexpr std::array<std::string_view, 12> kSources = {".c", ".cc", ".cpp", ".cxx", ".C", ".c++",
                                                       ".m", ".mm", ".y",   ".l",   ".S", ".def"};
constexpr std::array<std::string_view, 9> kHeaders = {".h",   ".hh",  ".hpp", ".hxx", ".H",
                                                      ".inc", ".inl", ".tcc", ".ipp"};

bool is_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}
bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool is_name_byte(char byte) { return is_letter(byte) || is_digit(byte); }

bool ends_with_any(std::string_view text, const auto& endings) {
  return std::ranges::any_of(endings, [&](std::string_view each) {
    return text.size() > each.size() && text.ends_with(each);
  });
}

bool is_path(std::string_view text) {
  return std::ranges::none_of(text, [](char byte) { return byte <= ' ' || byte == '%'; });
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

// No identifier, so that no name has it.
constexpr std::string_view kUnnamed = "\x01";

// The offset of the first '(' outside angle brackets; npos without one.
std::size_t arguments_in(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '<' ? 1 : text[at] == '>' ? -1 : 0;
    if (text[at] == '(' && depth == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

// Where the qualified name that ends at the end of `text` begins, angle brackets included.
std::size_t name_begin(std::string_view text) {
  int depth = 0;
  std::size_t at = text.size();
  for (; at != 0; --at) {
    const char byte = text[at - 1];
    depth += byte == '>' ? 1 : byte == '<' ? -1 : 0;
    if (depth == 0 && (byte == ' ' || byte == '*' || byte == '&')) {
      break;
    }
  }
  return at;
}

// Parts between "::", each an identifier or kUnnamed, the last one an identifier or a destructor's.
bool is_qualified_name(std::string_view text) {
  for (;;) {
    const std::size_t end = text.find("::");
    std::string_view part = text.substr(0, end);
    const bool last = end == std::string_view::npos;
    if (last && part.starts_with('~')) {
      part.remove_prefix(1);
    }
    if (!is_identifier(part) && (last || part != kUnnamed)) {
      return false;
    }
    if (last) {
      return true;
    }
    text.remove_prefix(end + 2);
  }
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, is_name_byte);
}

std::optional<std::string> function_in_message(std::string_view text) {
  if (is_identifier(text)) {
    return std::string(text);
  }
  if (text.size() > kLongestMessageText || text.find('(') == std::string_view::npos ||
      text.find("operator") != std::string_view::npos) {
    return std::nullopt;
  }
  std::string signature(text);
  replace_all(signature, "{anonymous}", kUnnamed);            // gcc
  replace_all(signature, "(anonymous namespace)", kUnnamed);  // clang
  const std::size_t arguments = arguments_in(signature);
  if (arguments == std::string::npos || signature.find(')', arguments) == std::string::npos) {
    return std::nullopt;
  }
  const std::string_view before = std::string_view(signature).substr(0, arguments);
  const std::string_view found = before.substr(name_begin(before));
  // "f(int)" has a type before its name, or is a constructor; "f (x)" is an expression.
  const bool typed = found.size() < before.size() || found.find("::") != std::string_view::npos;
  if (!typed || !is_qualified_name(found)) {
    return std::nullopt;
  }
  std::string name(found);
  replace_all(name, kUnnamed, "(anonymous namespace)");
  return name;
}

std::string function_in_demangled(std::string_view text) {
  std::string name(text);
  replace_all(name, "(anonymous namespace)", kUnnamed);
  name.resize(std::min(name.size(), arguments_in(name)));
  name.erase(0, name_begin(name));
  if (name.ends_with('>')) {
    int depth = 0;
    std::size_t at = name.size();
    do {
      --at;
      depth += name[at] == '>' ? 1 : name[at] == '<' ? -1 : 0;
    } while (at != 0 && depth != 0);
    name.resize(at);
  }
  replace_all(name, kUnnamed, "(anonymous namespace)");
  return name.empty() ? std::string(text) : name;
}

bool is_source_path(std::string_view text) {
  return is_path(text) && (ends_with_any(text, kSources) || ends_with_any(text, kHeaders));
}

bool is_header_path(std::string_view text) {
  return is_path(text) && ends_with_any(text, kHeaders);
}

}  // namespace whocall
