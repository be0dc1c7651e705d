#include "arch/x86/form_reader.h"

namespace whocall::x86 {
namespace {

constexpr std::size_t kMostPrefixes = 6;  // of a long nop

}  // namespace

bool FormReader::read_prefixes() {
  for (;; ++at_) {
    const std::uint8_t value = bytes_[at_];
    if (value == 0x66 && !narrow_) {
      narrow_ = true;
    } else if (value == 0x66 || value == 0x2e) {
      nop_only_ = true;
    } else if ((value == 0xf2 || value == 0xf3) && repeat_ == 0) {
      repeat_ = value;
    } else {
      break;
    }
    if (at_ == kMostPrefixes) {
      return false;
    }
  }
  if (is_64_ && (bytes_[at_] & 0xf0U) == 0x40) {
    rex_ = bytes_[at_++];
  }
  whole_ = is_64_ ? (rex_ & 8U) != 0 : !narrow_;
  address_sized_ = whole_ || (short_pointers_ && !narrow_);
  return !(narrow_ && rex_ >= 0x48);
}

bool FormReader::read_operands() {
  const std::uint8_t modrm = bytes_[at_++];
  const unsigned mod = modrm >> 6U;
  operands_.reg = (modrm >> 3U & 7U) | (rex_ & 4U) << 1U;
  operands_.rm = (modrm & 7U) | (rex_ & 1U) << 3U;
  operands_.in_memory = mod != 3;
  if (!operands_.in_memory) {
    return true;
  }
  bool has_base = true;
  unsigned base = operands_.rm;
  if (base % 8 == 4) {
    const std::uint8_t sib = bytes_[at_++];
    const unsigned index = (sib >> 3U & 7U) | (rex_ & 2U) << 2U;
    operands_.index = index != 4 ? register_number(index) : kNoRegister;
    operands_.scale = static_cast<std::uint8_t>(1U << (sib >> 6U));
    base = (sib & 7U) | (rex_ & 1U) << 3U;
  }
  if (mod == 0 && base % 8 == 5) {  // a number alone, or a distance from rip
    has_base = false;
  }
  operands_.base = has_base ? register_number(base) : kNoRegister;
  operands_.displacement = mod == 1 ? signed_byte() : mod == 2 || !has_base ? signed_word() : 0;
  return true;
}

}  // namespace whocall::x86
