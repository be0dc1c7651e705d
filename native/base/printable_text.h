// Text that others wrote, as it may be shown: names of symbols, of files and of threads may hold
// anything, and a terminal, a pager or a reader of lines obeys some of that.
//
// What cannot be seen as what it is, is told: control characters (line feeds and tabs too), marks
// that turn the direction of text, characters that show nothing, noncharacters, and bytes that are
// no UTF-8. The notation is that of C and Python: `\n`, `\x1b`, `\u202e`, `\U000e0041`, and `\xff`
// for a byte. A backslash stays as it is, so that what is printable already does not change.
// `base/printable.py` is the same in Python, and a test holds them against each other.
//
// Nothing is allocated here but by whoever takes the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace whocall {

struct CharacterRange {
  std::uint32_t first, last;
};

// Unicode's categories Cc, Zl and Zp, its Bidi_Control and Default_Ignorable_Code_Point, the
// anchors of annotations, and noncharacters (those at the ends of planes apart).
inline constexpr CharacterRange kUnprintable[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

constexpr bool is_printable(std::uint32_t code) {
  if (code >= 0x20 && code < 0x7f) {
    return true;
  }
  if ((code & 0xfffeU) == 0xfffeU) {
    return false;
  }
  for (const CharacterRange& range : kUnprintable) {
    if (code <= range.last) {
      return code < range.first;
    }
  }
  return true;
}

// The character that begins a text that is not empty.
struct FirstCharacter {
  std::uint32_t code = 0;  // of the byte itself where it begins none
  std::size_t size = 1;    // bytes
  bool is_valid = false;
};

// Table 3-7 of the Unicode standard: neither overlong forms, surrogates, nor what is beyond the
// last plane.
constexpr FirstCharacter first_character(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) {
    return {lead, 1, true};
  }
  const std::size_t size = lead < 0xc2   ? 0
                           : lead < 0xe0 ? 2
                           : lead < 0xf0 ? 3
                           : lead < 0xf5 ? 4
                                         : 0;
  if (size == 0) {
    return {lead, 1, false};
  }
  std::uint32_t code = lead & (0x7fU >> size);
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0U) != 0x80) {
      return {lead, 1, false};
    }
    code = code << 6U | (byte(at) & 0x3fU);
  }
  const bool is_short = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return is_short || is_surrogate || code > 0x10ffff ? FirstCharacter{lead, 1, false}
                                                     : FirstCharacter{code, size, true};
}

// How many bytes at the beginning are printable ASCII, eight at a time; it may be less by seven.
inline std::size_t plain_size(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::size_t at = 0;
  for (; text.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    if (((word | (word + kOnes) | (word - 0x20 * kOnes)) & 0x80 * kOnes) != 0) {
      break;
    }
  }
  return at;
}

// Where the first character lies that has to be told, from `at` on; the size where there is none.
inline std::size_t find_unprintable(std::string_view text, std::size_t at = 0) {
  at += plain_size(text.substr(at));
  while (at < text.size()) {
    const FirstCharacter found = first_character(text.substr(at));
    if (!found.is_valid || !is_printable(found.code)) {
      return at;
    }
    at += found.size;
  }
  return at;
}

// `prefix` and so many hexadecimal digits.
template <typename Text>
void append_digits(Text& out, std::string_view prefix, std::uint32_t code, unsigned digits) {
  out += prefix;
  while (digits-- != 0) {
    out += "0123456789abcdef"[code >> (4 * digits) & 15U];
  }
}

template <typename Text>
void append_told(Text& out, const FirstCharacter& found) {
  if (found.is_valid && (found.code == '\n' || found.code == '\t' || found.code == '\r')) {
    out += found.code == '\n' ? "\\n" : found.code == '\t' ? "\\t" : "\\r";
  } else if (found.code < 0x100) {
    append_digits(out, found.is_valid && found.code >= 0x80 ? "\\u00" : "\\x", found.code, 2);
  } else if (found.code < 0x10000) {
    append_digits(out, "\\u", found.code, 4);
  } else {
    append_digits(out, "\\U", found.code, 8);
  }
}

// Appends `text` with what has to be told told.
template <typename Text>
void append_printable(Text& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = find_unprintable(text, at);
    out += text.substr(at, end - at);
    if (end == text.size()) {
      return;
    }
    const FirstCharacter found = first_character(text.substr(end));
    append_told(out, found);
    at = end + found.size;
  }
}

// The same as a text of its own.
inline std::string made_printable(std::string_view text) {
  std::string made;
  append_printable(made, text);
  return made;
}

// How many characters a text has that is printable: its bytes but for those that go on, which are
// 10xxxxxx. It counts eight bytes at once.
inline std::size_t character_count(std::string_view printable) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  std::size_t count = printable.size();
  for (; printable.size() >= sizeof(std::uint64_t);
       printable.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, printable.data(), sizeof word);
    count -= ((word >> 7U & ~(word >> 6U) & kOnes) * kOnes) >> 56U;
  }
  for (const char byte : printable) {
    count -= (static_cast<unsigned char>(byte) & 0xc0U) == 0x80;
  }
  return count;
}

// The first so many characters of a text that is printable, or all.
constexpr std::string_view first_characters(std::string_view printable, std::size_t count) {
  std::size_t at = 0;
  for (; at < printable.size() && count != 0; --count) {
    at += first_character(printable.substr(at)).size;
  }
  return printable.substr(0, at);
}

}  // namespace whocall
