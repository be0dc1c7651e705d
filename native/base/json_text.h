// Strings as JSON holds them, byte for byte as Python's encoder writes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace whocall {

// Appends `text` in quotes. Only quotes, backslashes and control characters are escaped, as
// json.dumps(text, ensure_ascii=False) does it; what is not UTF-8 stays as it is.
inline void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::string_view kShort = "btn?fr";  // \b is 8, 11 has none
  const auto stays = [](char each) {
    return static_cast<unsigned char>(each) >= 0x20 && each != '"' && each != '\\';
  };
  out += '"';
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (stays(text[at])) {
      continue;
    }
    out.append(text, done, at - done);
    done = at + 1;
    const auto code = static_cast<unsigned char>(text[at]);
    out += '\\';
    if (code >= 0x20) {
      out += text[at];
    } else if (code >= '\b' && code <= '\r' && code != '\v') {
      out += kShort[code - '\b'];
    } else {
      out.append("u00").append(1, kDigits[code >> 4U]).append(1, kDigits[code & 15U]);
    }
  }
  out.append(text, done);
  out += '"';
}

}  // namespace whocall
