// One x86-64 instruction byte by byte: prefixes, operands, numbers, and what is told of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "arch/code_step.h"

namespace whocall::x86 {

class X86Form {
 public:
  X86Form(const std::uint8_t* code, std::size_t size, std::uintptr_t address)
      : code_(code), size_(std::min(size, kLongestStep)), address_(address) {}

 protected:
  using Flow = CodeStep::Flow;
  using Pointer = CodeStep::Pointer;
  // What of an instruction follows its operands: a number of one byte or two, of four or two, of as
  // many as the operands have, an address.
  enum class Tail : std::uint8_t { none, byte, half, word, wide, absolute };

  static constexpr unsigned kSp = 4;
  static constexpr unsigned kFp = 5;
  static constexpr unsigned kNone = 8;  // one of no interest; those of bytes are others below that
  static constexpr std::int32_t kWord = 8;  // bytes

  std::uint8_t next() { return at_ < size_ ? code_[at_++] : (at_ = size_ + 1, std::uint8_t{0}); }

  std::int32_t number(std::size_t bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value |= std::uint32_t{next()} << 8 * i;
    }
    return bytes == 1 ? static_cast<std::int8_t>(value) : static_cast<std::int32_t>(value);
  }

  // Also the one that widens registers, which comes last.
  void read_prefixes() {
    for (; at_ < size_; ++at_) {
      const std::uint8_t byte = code_[at_];
      const bool is_segment = byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 ||
                              byte == 0x64 || byte == 0x65;
      is_narrow_ = is_narrow_ || byte == 0x66;
      if (!is_segment && byte != 0x66 && byte != 0x67 && byte != 0xf0 && byte != 0xf2 &&
          byte != 0xf3) {
        break;
      }
    }
    if (at_ < size_ && (code_[at_] & 0xf0U) == 0x40) {
      rex_ = code_[at_++];
    }
  }

  [[nodiscard]] bool is_wide() const { return (rex_ & 8U) != 0; }

  // ModRM and what follows it.
  void read_operands() {
    const std::uint8_t modrm = next();
    mode_ = modrm >> 6U;
    reg_ = (modrm >> 3U & 7U) | (rex_ & 4U) << 1U;
    rm_ = (modrm & 7U) | (rex_ & 1U) << 3U;
    const unsigned base = modrm & 7U;
    if (mode_ == 3) {
      return;
    }
    std::size_t displacement = mode_ == 1 ? 1 : mode_ == 2 ? 4 : 0;
    if (base == 4) {
      const std::uint8_t sib = next();
      rm_ = (sib & 7U) | (rex_ & 1U) << 3U;
      has_index_ = ((sib >> 3U & 7U) | (rex_ & 2U) << 2U) != 4;
      is_placed_ = mode_ == 0 && (sib & 7U) == 5;
    } else {
      is_placed_ = mode_ == 0 && base == 5;
    }
    displacement = is_placed_ ? 4 : displacement;
    displacement_ = number(displacement);
  }

  // Whether the memory operand is a register of the frame, and a number.
  [[nodiscard]] bool is_at(unsigned base) const {
    return mode_ != 3 && rm_ == base && !has_index_ && !is_placed_;
  }

  void skip(Tail tail) {
    switch (tail) {
      case Tail::none:
        break;
      case Tail::byte:
        number_ = number(1);
        break;
      case Tail::half:
        number_ = number(2);
        break;
      case Tail::word:
        number_ = number(is_narrow_ ? 2 : 4);
        break;
      case Tail::wide:
        at_ += is_wide() ? 8 : is_narrow_ ? 2 : 4;
        break;
      case Tail::absolute:
        at_ += 8;
        break;
    }
  }

  // By half a word where a prefix says so, which nobody writes.
  void moves(std::int32_t bytes) {
    step_.sp = is_narrow_ ? Pointer::lost : Pointer::from_sp;
    step_.sp_offset = bytes;
  }
  void flows(Flow flow, std::size_t bytes) {
    step_.flow = flow;
    is_relative_ = true;
    distance_ = number(bytes);
  }
  // A result of which no more is known goes to a register.
  void lose(unsigned number) {
    step_.sp = number == kSp ? Pointer::lost : step_.sp;
    step_.fp = number == kFp ? Pointer::lost : step_.fp;
  }
  // A copy of one register in another, plus a number.
  void copies(unsigned to, unsigned from, std::int32_t plus) {
    lose(to);
    if (to == kSp && (from == kFp || from == kSp) && is_wide()) {
      step_.sp = from == kFp ? Pointer::from_fp : Pointer::from_sp;
      step_.sp_offset = plus;
    } else if (to == kFp && from == kSp && is_wide()) {
      step_.fp = Pointer::from_sp;
      step_.fp_offset = plus;
    }
  }

  const std::uint8_t* code_;
  std::size_t size_;
  std::uintptr_t address_;
  std::size_t at_ = 0;
  unsigned rex_ = 0;
  bool is_narrow_ = false;  // operands of 16 bits
  unsigned mode_ = 0;
  unsigned reg_ = 0;
  unsigned rm_ = 0;  // a register, or the base
  bool has_index_ = false;
  bool is_placed_ = false;  // no base
  std::int32_t displacement_ = 0;
  std::int32_t number_ = 0;
  std::int32_t distance_ = 0;
  bool is_relative_ = false;
  bool is_unknown_ = false;
  CodeStep step_;
};

}  // namespace whocall::x86
