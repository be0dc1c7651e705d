// The frames of one stack in a bounded room: the innermost, and of a deep one the outermost too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/walk.h"

namespace whocall::runtime {

struct KeptFrame {
  std::uintptr_t address = 0;
  whocall_trust trust = WHOCALL_CONTEXT;
  bool exact = false;  // the code is at the address, as in CarefulWalk

  // A byte of the code that the frame is in.
  [[nodiscard]] std::uintptr_t lookup_address() const { return address - (exact ? 0 : 1); }
};

class StackFrames {
 public:
  static constexpr std::size_t kInnermost = 96;
  static constexpr std::size_t kOutermost = 32;
  static constexpr std::size_t kMostWalked = std::size_t{1} << 20U;

  void walk(CarefulWalk walk);

  [[nodiscard]] std::size_t kept() const { return all_ < frames_.size() ? all_ : frames_.size(); }
  [[nodiscard]] std::size_t all() const { return all_; }
  // How many of the kept ones, at their end, are the outermost behind a gap.
  [[nodiscard]] std::size_t outermost() const { return all_ > frames_.size() ? kOutermost : 0; }
  [[nodiscard]] WalkEnd end() const { return end_; }
  // A kept frame by its place among the kept, and its number on the stack.
  [[nodiscard]] const KeptFrame& operator[](std::size_t place) const;
  [[nodiscard]] std::size_t number(std::size_t place) const {
    return place < kInnermost ? place : place + all_ - kept();
  }

 private:
  static std::size_t slot(std::size_t number) {
    return number < kInnermost ? number : kInnermost + (number - kInnermost) % kOutermost;
  }

  std::array<KeptFrame, kInnermost + kOutermost> frames_{};
  std::size_t all_ = 0;
  WalkEnd end_ = WalkEnd::none;
};

}  // namespace whocall::runtime
