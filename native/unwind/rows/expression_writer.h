// Writes the small DWARF expressions that rules made by us need.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "arch/architecture.h"
#include "base/byte_view.h"
#include "rules/dwarf.h"

namespace whocall {

class ExpressionWriter {
 public:
  // The bytes are kept in `arena`, whose elements never move.
  ExpressionWriter(std::deque<std::vector<std::byte>>& arena, Endian endian)
      : code_(arena.emplace_back()), endian_(endian) {}

  // Pushes register + offset.
  ExpressionWriter& base(Register number, std::int64_t offset) {
    if (number < 32) {
      code_.push_back(std::byte(dw::OP_breg0 + number));
    } else {
      code_.push_back(std::byte{dw::OP_bregx});
      sleb(number);
    }
    sleb(offset);
    return *this;
  }
  ExpressionWriter& deref() {
    code_.push_back(std::byte{dw::OP_deref});
    return *this;
  }
  ExpressionWriter& plus(std::int64_t amount) {
    if (amount != 0) {
      code_.push_back(std::byte{dw::OP_consts});
      sleb(amount);
      code_.push_back(std::byte{dw::OP_plus});
    }
    return *this;
  }
  ExpressionWriter& constant(std::int64_t value) {
    code_.push_back(std::byte{dw::OP_consts});
    sleb(value);
    return *this;
  }
  ExpressionWriter& times(std::int64_t factor) {
    constant(factor);
    code_.push_back(std::byte{dw::OP_mul});
    return *this;
  }
  // Adds the two upper values.
  ExpressionWriter& sum() {
    code_.push_back(std::byte{dw::OP_plus});
    return *this;
  }
  // Takes the upper of two values from the lower.
  ExpressionWriter& minus() {
    code_.push_back(std::byte{dw::OP_minus});
    return *this;
  }
  [[nodiscard]] ByteView view() const { return {code_, endian_}; }

 private:
  void sleb(std::int64_t value) {
    while (true) {
      const auto low = static_cast<std::uint8_t>(value & 0x7f);
      value >>= 7;
      const bool last = (value == 0 && (low & 0x40U) == 0) || (value == -1 && (low & 0x40U) != 0);
      code_.push_back(std::byte(last ? low : low | 0x80U));
      if (last) {
        return;
      }
    }
  }

  std::vector<std::byte>& code_;
  Endian endian_;
};

}  // namespace whocall
