// The stable name of a function that has none: "sub_1136".
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/address.h"

namespace whocall {

// Kept in place, as a file may have a million of them.
class FunctionLabel {
 public:
  // `start` is a link address.
  explicit FunctionLabel(Address start)
      : end_(std::to_chars(text_.data() + kPrefix, text_.data() + text_.size(), start, 16).ptr) {}
  FunctionLabel(const FunctionLabel&) = delete;
  FunctionLabel& operator=(const FunctionLabel&) = delete;
  ~FunctionLabel() = default;

  [[nodiscard]] std::string_view text() const {
    return {text_.data(), static_cast<std::size_t>(end_ - text_.data())};
  }

 private:
  static constexpr std::size_t kPrefix = 4;
  std::array<char, kPrefix + 16> text_ = {'s', 'u', 'b', '_'};
  const char* end_;
};

// "sub_1136": the stable name of a function that has none. `start` is a link address.
inline std::string unnamed_function(Address start) {
  return std::string(FunctionLabel(start).text());
}

}  // namespace whocall
