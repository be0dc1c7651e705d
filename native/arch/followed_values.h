// What is known of each register that the analysis of code follows.
#pragma once

#include <array>
#include <optional>

#include "arch/registers.h"

namespace whocall {

// One value for each, `Value{}` where nothing is known.
template <typename Value>
class FollowedValues {
 public:
  // `which` is an architecture's, and outlives all values.
  explicit FollowedValues(const FollowedRegisters& which) : FollowedValues(which, which.count()) {}
  // Of those at places from `count` on nothing is ever known.
  FollowedValues(const FollowedRegisters& which, Register count) : which_(&which), count_(count) {}

  // `Value{}` also for a register that is not followed.
  [[nodiscard]] Value get(Register number) const {
    const Register place = which_->place(number);
    return place < count_ ? values_[place] : Value{};
  }
  void set(Register number, const Value& value) {
    const Register place = which_->place(number);
    if (place < count_) {
      values_[place] = value;
    }
  }

  [[nodiscard]] Register count() const { return count_; }
  // Of the register at a place below count().
  [[nodiscard]] Register number(Register place) const { return which_->number(place); }
  // Calls `change(number, value)` for each, where the value may be changed.
  template <typename Change>
  void change_each(const Change& change) {
    for (Register place = 0; place < count_; ++place) {
      change(number(place), values_[place]);
    }
  }
  // The first register, in the order of places, of which `holds(number, value)` is true.
  template <typename Holds>
  [[nodiscard]] std::optional<Register> find(const Holds& holds) const {
    for (Register place = 0; place < count_; ++place) {
      if (holds(number(place), values_[place])) {
        return number(place);
      }
    }
    return std::nullopt;
  }

  friend bool operator==(const FollowedValues& left, const FollowedValues& right) {
    return left.values_ == right.values_;
  }

 private:
  const FollowedRegisters* which_;
  Register count_;
  std::array<Value, kFollowedLimit> values_{};
};

}  // namespace whocall
