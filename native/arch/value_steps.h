// Parts of what one instruction does with values, registers read and written, and words
// of memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arch/value_flow.h"

namespace whocall {

// Of sets with registers of so many bytes.
template <std::uint8_t Word>
class ValueStepsOf {
 protected:
  using From = ValueWrite::From;
  static constexpr std::uint8_t kWord = Word;
  static constexpr std::uint8_t kHalf = Word / 2;
  static constexpr std::uint8_t kMuch = 64;  // bytes: as many as one instruction stores

  // `zero`: a register that is neither read nor written, as it holds zero, or is none of values.
  ValueStepsOf(ValueFlow& out, Register zero) : out_(out), zero_(zero) {}

  void note(Register number, std::uint8_t size) {
    if (number == zero_) {
      return;
    }
    const auto known = std::ranges::find(out_.reads, number, &ValueFlow::Read::number);
    if (known == out_.reads.end()) {
      out_.reads.push_back({number, size});
    } else {
      known->size = std::max(known->size, size);
    }
  }
  void note(const ValueAddress& place) {
    note(place.base.value_or(zero_), kWord);
    note(place.index.value_or(zero_), std::min(place.index_size, kWord));
  }
  // It is read, and what comes of it is not followed.
  void mix(Register number, std::uint8_t size = kWord) {
    note(number, size);
    if (number != zero_) {
      out_.mixed.push_back(number);
    }
  }

  // All of a register.
  void put(Register number, ValueWrite value) {
    if (number != zero_) {
      value.destination = number;
      out_.writes.push_back(value);
    }
  }
  void lose(Register number) { put(number, {}); }

  static ValueWrite constant(std::uint64_t number) {
    ValueWrite value;
    value.from = From::constant;
    value.number = static_cast<std::int64_t>(number);
    return value;
  }
  // The lowest `size` bytes of a register.
  ValueWrite part(Register number, std::uint8_t size, bool is_signed = false) {
    if (number == zero_) {
      return constant(0);
    }
    note(number, size);
    ValueWrite value;
    value.from = From::reg;
    value.size = size;
    value.is_signed = is_signed;
    value.source = number;
    return value;
  }
  static ValueWrite sum(const ValueAddress& place, std::uint8_t size, bool is_signed = false) {
    ValueWrite value;
    value.from = From::address;
    value.size = size;
    value.is_signed = is_signed;
    value.place = place;
    return value;
  }
  static ValueWrite loaded(const ValueAddress& place, std::uint8_t size, bool is_signed) {
    ValueWrite value;
    value.from = From::memory;
    value.size = size;
    value.is_signed = is_signed;
    value.place = place;
    return value;
  }

  void store(const ValueAddress& place, ValueWrite value, std::uint8_t size) {
    value.stored_at = place;
    value.stored_size = size;
    out_.writes.push_back(value);
  }
  // Nobody knows where.
  void store_somewhere() {
    ValueAddress nowhere;
    nowhere.known = false;
    store(nowhere, {}, kMuch);
  }

  ValueFlow& out_;

 private:
  Register zero_;
};

using ValueSteps = ValueStepsOf<8>;

}  // namespace whocall
