// Strings as JSON holds them: their characters are all there, and none is obeyed by a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/printable_text.h"

namespace whocall {

// What json.dumps(text, ensure_ascii=False) escapes: quotes, backslashes, control characters.
inline void append_json_escape(std::string& out, char each) {
  constexpr std::string_view kShort = "btn?fr";  // \b is 8, 11 has none
  const auto code = static_cast<unsigned char>(each);
  if (code >= '\b' && code <= '\r' && code != '\v') {
    (out += '\\') += kShort[code - '\b'];
  } else if (code < 0x20 || code == 0x7f) {
    append_digits(out, "\\u00", code, 2);
  } else {
    (out += '\\') += each;
  }
}

// Appends `text` in quotes. Escaped is, beside that, what is not printable (base/printable_text.h):
// `\u202e`. A byte that is no UTF-8 is the surrogate by which Python holds it, `\udcff` for 0xff,
// so that names can be had back whole, and the output is UTF-8 whatever the name.
inline void append_json_string(std::string& out, std::string_view text) {
  const auto stays = [](char each) {
    return each >= 0x20 && each != 0x7f && each != '"' && each != '\\';
  };
  out += '"';
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (stays(text[at])) {
      ++at;
      continue;
    }
    const FirstCharacter found = first_character(text.substr(at));
    if (found.is_valid && found.code >= 0x80 && is_printable(found.code)) {
      at += found.size;
      continue;
    }
    out.append(text, done, at - done);
    if (found.code < 0x80) {
      append_json_escape(out, text[at]);
    } else if (!found.is_valid) {
      append_digits(out, "\\udc", found.code, 2);
    } else if (found.code < 0x10000) {
      append_digits(out, "\\u", found.code, 4);
    } else {
      append_digits(out, "\\u", 0xd7c0 + (found.code >> 10U), 4);
      append_digits(out, "\\u", 0xdc00 + (found.code & 0x3ffU), 4);
    }
    at += found.size;
    done = at;
  }
  out.append(text, done);
  out += '"';
}

}  // namespace whocall
