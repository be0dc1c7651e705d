// The fields of LoongArch instructions, and those that come in one form alone.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/registers.h"
#include "base/address.h"
#include "base/byte_view.h"

namespace whocall::loongarch {

inline constexpr std::uint8_t kWidth = 4;  // bytes, of every instruction

inline std::optional<std::uint32_t> word_at(ByteView code, std::uint64_t at) {
  return ByteView(code.from(at).bytes(), Endian::little).read<std::uint32_t>(0);
}

constexpr std::uint32_t bits(std::uint32_t word, unsigned low, unsigned count) {
  return word >> low & ((1U << count) - 1);
}
constexpr bool is(std::uint32_t word, std::uint32_t mask, std::uint32_t value) {
  return (word & mask) == value;
}
constexpr Register rd(std::uint32_t word) { return static_cast<Register>(bits(word, 0, 5)); }
constexpr Register rj(std::uint32_t word) { return static_cast<Register>(bits(word, 5, 5)); }
constexpr Register rk(std::uint32_t word) { return static_cast<Register>(bits(word, 10, 5)); }

constexpr std::int64_t signed_value(std::uint32_t value, unsigned count) {
  const auto wide = static_cast<std::int64_t>(value);
  return wide - (value >> (count - 1) != 0 ? std::int64_t{1} << count : 0);
}
// The immediate operands, by their widths in the manual.
constexpr std::int64_t si12(std::uint32_t word) { return signed_value(bits(word, 10, 12), 12); }
constexpr std::int64_t ui12(std::uint32_t word) { return bits(word, 10, 12); }
constexpr std::int64_t si14(std::uint32_t word) { return signed_value(bits(word, 10, 14), 14); }
constexpr std::int64_t si16(std::uint32_t word) { return signed_value(bits(word, 10, 16), 16); }
constexpr std::int64_t si20(std::uint32_t word) { return signed_value(bits(word, 5, 20), 20); }

// Distances of jumps, bytes: the upper part stands in the lowest bits.
constexpr std::int64_t offs16(std::uint32_t word) { return si16(word) * 4; }
constexpr std::int64_t offs21(std::uint32_t word) {
  return signed_value(bits(word, 0, 5) << 16U | bits(word, 10, 16), 21) * 4;
}
constexpr std::int64_t offs26(std::uint32_t word) {
  return signed_value(bits(word, 0, 10) << 16U | bits(word, 10, 16), 26) * 4;
}

// What a word of one opcode and two registers with 12 bits of a number is.
constexpr bool has_opcode(std::uint32_t word, std::uint32_t code) {
  return is(word, 0xffc00000, code);
}
constexpr bool is_addi(std::uint32_t word) { return has_opcode(word, 0x02c00000); }  // addi.d
constexpr bool is_ori(std::uint32_t word) { return has_opcode(word, 0x03800000); }
constexpr bool is_nop(std::uint32_t word) { return word == 0x03400000; }
constexpr bool is_move(std::uint32_t word) { return is(word, 0xfffffc00, 0x00150000); }
constexpr bool is_add(std::uint32_t word) { return is(word, 0xffff8000, 0x00108000); }  // add.d

constexpr bool is_lu12i(std::uint32_t word) { return is(word, 0xfe000000, 0x14000000); }
constexpr bool is_lu32i(std::uint32_t word) { return is(word, 0xfe000000, 0x16000000); }
constexpr bool is_lu52i(std::uint32_t word) { return has_opcode(word, 0x03000000); }
constexpr bool is_pcaddi(std::uint32_t word) { return is(word, 0xfe000000, 0x18000000); }
constexpr bool is_pcalau12i(std::uint32_t word) { return is(word, 0xfe000000, 0x1a000000); }
constexpr bool is_pcaddu12i(std::uint32_t word) { return is(word, 0xfe000000, 0x1c000000); }
constexpr bool is_pcaddu18i(std::uint32_t word) { return is(word, 0xfe000000, 0x1e000000); }
constexpr bool counts_from_pc(std::uint32_t word) { return is(word, 0xf8000000, 0x18000000); }
// What such an instruction at `address` puts into rd.
constexpr Address counted_from_pc(std::uint32_t word, Address address) {
  const Address from = is_pcalau12i(word) ? address & ~Address{0xfff} : address;
  const unsigned shift = is_pcaddi(word) ? 2 : is_pcaddu18i(word) ? 18 : 12;
  return from + (static_cast<Address>(si20(word)) << shift);
}

constexpr bool is_load(std::uint32_t word) { return has_opcode(word, 0x28c00000); }  // ld.d
constexpr bool is_store(std::uint32_t word) { return has_opcode(word, 0x29c00000); }
constexpr bool is_jirl(std::uint32_t word) { return is(word, 0xfc000000, 0x4c000000); }

// pcaddu18i rX, or pcalau12i rX, and a jump by rX behind it: farther than `bl` goes.
constexpr bool is_far_jump(std::uint32_t first, std::uint32_t second) {
  return (is_pcaddu18i(first) || is_pcalau12i(first)) && rd(first) != 0 && is_jirl(second) &&
         rj(second) == rd(first);
}
constexpr Address far_target(std::uint32_t first, std::uint32_t second, Address address) {
  return counted_from_pc(first, address) + static_cast<Address>(offs16(second));
}

}  // namespace whocall::loongarch
