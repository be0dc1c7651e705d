// Text from outside, taken apart line by line and word by word, without copies.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/interrupt.h"

namespace whocall {

inline constexpr std::string_view kBlanks = " \t";

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Without blanks around it.
inline std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// Takes the next line off the front of `text`, without its line feed and the carriage return before
// that. What follows the last line feed is a line too. Now and then it asks for Ctrl-C: lists of
// names have up to gigabytes.
inline std::string_view take_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t piece = text.size() / kManyBytes;
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (text.size() / kManyBytes != piece) {
    check_interrupt();
  }
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

// Takes the next word off the front of `line`; empty at the end.
inline std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

// The whole of `text` as a number; a miss for anything else, and for what does not fit.
inline std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

inline bool has_hex_prefix(std::string_view text) {
  return text.starts_with("0x") || text.starts_with("0X");
}

// Hexadecimal, with or without 0x.
inline std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  return number(has_hex_prefix(text) ? text.substr(2) : text, 16);
}

}  // namespace whocall
