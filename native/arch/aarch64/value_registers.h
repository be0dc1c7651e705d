// Registers of A64 as values are put into them: of 8 bytes, or of 4 with zeros above.
#pragma once

#include <algorithm>

#include "arch/aarch64/fields.h"
#include "arch/value_steps.h"

namespace whocall::aarch64 {

// 31 is the stack pointer or zero; neither is a value that is handed over.
class ValueRegisters : protected ValueSteps {
 protected:
  explicit ValueRegisters(ValueFlow& out) : ValueSteps(out, kZero) {}

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
  void move_base(Register base, std::int64_t amount) {
    put_or_sp(base, sum({.base = base, .offset = amount}, kWord), kWord);
  }
};

}  // namespace whocall::aarch64
