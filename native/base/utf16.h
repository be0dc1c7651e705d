// Text in UTF-16 as files of other systems have it.
#pragma once

#include <cstdint>
#include <string>

#include "base/byte_view.h"

namespace whocall {

inline void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0U | code >> 6U);
    put(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    put(0xe0U | code >> 12U);
    put(0x80U | (code >> 6U & 0x3fU));
    put(0x80U | (code & 0x3fU));
  } else {
    put(0xf0U | code >> 18U);
    put(0x80U | (code >> 12U & 0x3fU));
    put(0x80U | (code >> 6U & 0x3fU));
    put(0x80U | (code & 0x3fU));
  }
}

// In the view's byte order. Halves of pairs and of characters become U+FFFD.
inline std::string utf8_of_utf16(ByteView bytes) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  std::string text;
  std::uint64_t at = 0;
  while (at < bytes.size()) {
    const auto unit = bytes.read<std::uint16_t>(at);
    at += 2;
    std::uint32_t code = unit.value_or(kReplacement);
    if (code >= 0xd800 && code < 0xe000) {
      const auto low = code < 0xdc00 ? bytes.read<std::uint16_t>(at) : std::nullopt;
      if (low && *low >= 0xdc00 && *low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10U) + (*low - 0xdc00);
        at += 2;
      } else {
        const bool ends = code < 0xdc00 && !low;
        at = ends ? bytes.size() : at;
        code = kReplacement;
      }
    }
    append_utf8(text, code);
  }
  return text;
}

}  // namespace whocall
