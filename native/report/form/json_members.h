// The members of a JSON object, a line each, in the order in which they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/json_text.h"

namespace whocall {

class JsonMembers {
 public:
  // The object stands behind `margin` spaces, its members behind one more.
  JsonMembers(std::string& text, std::size_t margin);

  // Starts a member; its value is the caller's to write.
  void name(std::string_view key);
  void number(std::string_view key, std::optional<std::uint64_t> value);
  void integer(std::string_view key, std::int64_t value);
  void address(std::string_view key, std::optional<Address> value);
  void string(std::string_view key, std::string_view value);  // null for an empty one
  void truth(std::string_view key, bool value);
  template <typename Items, typename Word>
  void list(std::string_view key, const Items& items, Word word) {
    name(key);
    text_ += '[';
    bool first = true;
    for (const auto& item : items) {
      text_ += first ? "" : ",";
      first = false;
      (text_ += line_) += ' ';
      append_json_string(text_, word(item));
    }
    if (!first) {
      text_ += line_;
    }
    text_ += ']';
  }
  void close() { text_.append(line_, 0, line_.size() - 1) += '}'; }
  [[nodiscard]] std::size_t margin() const { return line_.size() - 1; }  // of the members

 private:
  std::string& text_;
  std::string line_;  // a new line and its margin
  bool first_ = true;
};

}  // namespace whocall
