// What programs and files are called may hold anything: nothing of it is obeyed by a terminal, and
// JSON of it is UTF-8.
#ifndef WHOCALL_PRINTED_HPP
#define WHOCALL_PRINTED_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace whocall {
namespace detail {

// A character of a text: its bytes, and its number; of what is no UTF-8 one byte, and no number.
struct character {
  std::size_t size = 1;
  std::uint32_t number = k_none;
  static constexpr std::uint32_t k_none = 0xffffffff;
};

inline character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t behind) -> std::uint32_t {
    return at + behind < text.size() ? static_cast<unsigned char>(text[at + behind]) : 0U;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) {
    return {1, first};
  }
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) {
    return {};
  }
  std::uint32_t number = first & (0x7fU >> size);
  for (std::size_t behind = 1; behind < size; ++behind) {
    if ((byte(behind) & 0xc0U) != 0x80) {
      return {};
    }
    number = number << 6U | (byte(behind) & 0x3fU);
  }
  constexpr std::uint32_t k_least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = number >= 0xd800 && number < 0xe000;
  return number < k_least[size] || number > 0x10ffff || is_surrogate ? character()
                                                                     : character{size, number};
}

// Whether it would move the cursor, change colours, or turn the direction of what follows.
inline bool is_obeyed(std::uint32_t number) {
  return number < 0x20 || (number >= 0x7f && number < 0xa0) || number == 0x61c ||
         (number >= 0x200b && number <= 0x200f) || (number >= 0x2028 && number <= 0x202e) ||
         (number >= 0x2060 && number <= 0x206f) || number == 0xfeff;
}

inline std::string numbered(const char* form, unsigned number) {
  char text[16];
  std::snprintf(text, sizeof text, form, number);
  return text;
}

inline std::string harmless(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const character each = character_at(text, at);
    if (each.number == character::k_none || (each.number < 0x80 && is_obeyed(each.number))) {
      shown += numbered("\\x%02x", static_cast<unsigned char>(text[at]));
    } else if (is_obeyed(each.number)) {
      shown += numbered("\\u%04x", each.number);
    } else {
      shown += text.substr(at, each.size);
    }
    at += each.size;
  }
  return shown;
}

// As JSON has it. A byte that is no UTF-8 becomes the mark for such.
inline std::string quoted(std::string_view text) {
  std::string shown = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const character each = character_at(text, at);
    if (each.number == character::k_none) {
      shown += "\\ufffd";
    } else if (is_obeyed(each.number)) {
      shown += numbered("\\u%04x", each.number);
    } else {
      shown += each.number == '"' || each.number == '\\' ? "\\" : "";
      shown += text.substr(at, each.size);
    }
    at += each.size;
  }
  return shown + "\"";
}

inline std::string in_hex(std::uintptr_t value) {
  char text[2 + 2 * sizeof value + 1];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace detail
}  // namespace whocall

#endif
