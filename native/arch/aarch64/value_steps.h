// Parts of what one A64 instruction does with values: registers read, written, and words of memory.
#pragma once

#include <algorithm>

#include "arch/aarch64/constants.h"
#include "arch/aarch64/fields.h"
#include "arch/value_flow.h"

namespace whocall::aarch64 {

class ValueSteps {
 protected:
  using From = ValueWrite::From;
  static constexpr std::uint8_t kWord = 8;
  static constexpr std::uint8_t kHalf = 4;
  static constexpr std::uint8_t kMuch = 64;  // bytes: as many as one instruction stores

  explicit ValueSteps(ValueFlow& out) : out_(out) {}

  // 31 is the stack pointer or zero; neither is a value that is handed over.
  void note(Register number, std::uint8_t size) {
    if (number == kZero) {
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
    note(place.base.value_or(kZero), kWord);
    note(place.index.value_or(kZero), place.index_size);
  }
  // It is read, and what comes of it is not followed.
  void mix(Register number, std::uint8_t size) {
    note(number, size);
    if (number != kZero) {
      out_.mixed.push_back(number);
    }
  }

  // A register of `size` bytes; of a smaller one the upper half is cleared. 31 is zero.
  void put(Register number, ValueWrite value, std::uint8_t size) {
    if (number != kZero) {
      put_or_sp(number, value, size);
    }
  }
  // The same where 31 is the stack pointer.
  void put_or_sp(Register number, ValueWrite value, std::uint8_t size) {
    if (size == kHalf && value.from == From::constant) {
      value.number = static_cast<std::int64_t>(static_cast<std::uint32_t>(value.number));
    } else if (size == kHalf && value.is_signed && value.size < kHalf) {
      put_or_sp(number, value, kWord);  // widened by its sign, and then cleared above the half
      value = {.from = From::reg, .size = kHalf, .source = number};
    } else if (size == kHalf) {
      value.size = std::min(value.size, kHalf);
    }
    value.destination = number;
    out_.writes.push_back(value);
  }
  void lose(Register number) { put(number, {}, kWord); }

  static ValueWrite constant(std::uint64_t number) {
    ValueWrite value;
    value.from = From::constant;
    value.number = static_cast<std::int64_t>(number);
    return value;
  }
  // The lowest `size` bytes of a register; 31 is zero.
  ValueWrite part(Register number, std::uint8_t size, bool is_signed = false) {
    if (number == kZero) {
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
  static ValueWrite sum(const ValueAddress& place, std::uint8_t size) {
    ValueWrite value;
    value.from = From::address;
    value.size = size;
    value.place = place;
    return value;
  }
  static ValueWrite word_at(const ValueAddress& place, std::uint8_t size, bool is_signed) {
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
  void move_base(Register base, std::int64_t amount) {
    put_or_sp(base, sum({.base = base, .offset = amount}, kWord), kWord);
  }

  ValueFlow& out_;
};

}  // namespace whocall::aarch64
