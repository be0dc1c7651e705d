// Writes records of numbers, the low byte first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace whocall {

class RecordWriter {
 public:
  void number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
  }
  template <typename... Values>
  void words(Values... values) {
    (number(values, 4), ...);
  }
  void append(std::span<const std::byte> more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace whocall
