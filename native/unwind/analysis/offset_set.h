// Places of one function that wait for their turn, taken from front to back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace whocall {

// A set of offsets below `size`, a bit each.
class OffsetSet {
 public:
  explicit OffsetSet(std::size_t size) : words_(size / kBits + 1) {}

  void clear() {
    std::ranges::fill(words_, 0);
    first_ = words_.size();
  }
  [[nodiscard]] bool empty() {
    while (first_ < words_.size() && words_[first_] == 0) {
      ++first_;
    }
    return first_ == words_.size();
  }
  void insert(std::uint64_t offset) {
    words_[offset / kBits] |= std::uint64_t{1} << (offset % kBits);
    first_ = std::min<std::size_t>(first_, offset / kBits);
  }
  // Removes the lowest; there must be one.
  std::uint64_t take_first() {
    while (words_[first_] == 0) {
      ++first_;
    }
    const auto bit = static_cast<unsigned>(std::countr_zero(words_[first_]));
    words_[first_] &= words_[first_] - 1;
    return first_ * kBits + bit;
  }

 private:
  static constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> words_;
  std::size_t first_ = 0;  // no word before this one has a bit
};

}  // namespace whocall
