// The colours of text.
#pragma once

#include <string>
#include <string_view>

namespace whocall {

// SGR parameters such as "33"; what has none stays as it is.
struct Paint {
  std::string title{};
  std::string function{};
  std::string filename{};
  std::string address{};
  std::string metadata{};
  std::string highlight{};
};

inline void append_painted(std::string& text, std::string_view code, std::string_view words) {
  if (code.empty() || words.empty()) {
    text += words;
    return;
  }
  ((((text += "\x1b[") += code) += 'm') += words) += "\x1b[0m";
}

}  // namespace whocall
