// Whether the functions around a place are aligned.
//
// Folklore. Situation: compilers align all functions of a file or, asked for small code, hardly
// any; a program need not be of one file. Example: gcc -Os -static, a program of a hundred
// functions before the thousand of the C library, which was compiled for speed. Remedy: the nearest
// functions tell, and not the whole program's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/address.h"

namespace whocall {

class FunctionAlignment {
 public:
  struct Share {
    std::size_t aligned = 0;
    std::size_t functions = 0;
  };

  explicit FunctionAlignment(std::uint64_t alignment) : alignment_(alignment) {}

  [[nodiscard]] bool is_aligned(Address function) const { return function % alignment_ == 0; }

  // Ascending; no function twice.
  void add(Address function) {
    functions_.push_back(function);
    aligned_.push_back(aligned_.back() + (is_aligned(function) ? 1 : 0));
  }

  // Of the 64 nearest, as many before `place` as behind it; of all where there are no more.
  [[nodiscard]] Share around(Address place) const;

 private:
  std::uint64_t alignment_;  // bytes
  std::vector<Address> functions_;
  std::vector<std::uint32_t> aligned_{0};  // [i]: how many of the first i are
};

}  // namespace whocall
