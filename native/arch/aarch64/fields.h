// The fields of an A64 instruction word, and the words that come in one form alone.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/registers.h"
#include "base/address.h"
#include "base/byte_view.h"

namespace whocall::aarch64 {

inline constexpr Register kZero = 31;  // where 31 is not the stack pointer

// Instructions are little-endian, whatever the data are.
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
constexpr Register rn(std::uint32_t word) { return static_cast<Register>(bits(word, 5, 5)); }
constexpr Register rm(std::uint32_t word) { return static_cast<Register>(bits(word, 16, 5)); }

// A field of `count` bits from `low` on as a signed number.
constexpr std::int64_t signed_bits(std::uint32_t word, unsigned low, unsigned count) {
  const std::int64_t value = bits(word, low, count);
  return value - (value >> (count - 1) != 0 ? std::int64_t{1} << count : 0);
}

// The families of instructions, as table C4-1 of the manual divides them.
enum class Family : std::uint8_t {
  none,
  scalable,
  immediates,
  branches,
  memory,
  registers,
  vectors
};
constexpr Family family(std::uint32_t word) {
  constexpr Family kFamilies[] = {
      Family::none,       Family::none,       Family::scalable, Family::none,
      Family::memory,     Family::registers,  Family::memory,   Family::vectors,
      Family::immediates, Family::immediates, Family::branches, Family::branches,
      Family::memory,     Family::registers,  Family::memory,   Family::vectors,
  };
  return kFamilies[bits(word, 25, 4)];
}

constexpr bool is_adrp(std::uint32_t word) { return is(word, 0x9f000000, 0x90000000); }
constexpr bool is_adr(std::uint32_t word) { return is(word, 0x9f000000, 0x10000000); }
constexpr std::int64_t adr_distance(std::uint32_t word) {
  return signed_bits(word, 5, 19) * 4 + bits(word, 29, 2);
}
// What adr or adrp at `address` puts into rd.
constexpr Address adr_value(std::uint32_t word, Address address) {
  return is_adrp(word)
             ? (address & ~Address{0xfff}) + static_cast<Address>(adr_distance(word) * 4096)
             : address + static_cast<Address>(adr_distance(word));
}
// add xd, xn, #imm
constexpr bool is_add_immediate(std::uint32_t word) { return is(word, 0xff800000, 0x91000000); }
constexpr std::uint64_t add_immediate(std::uint32_t word) {
  return std::uint64_t{bits(word, 10, 12)} << (bits(word, 22, 1) * 12);
}
// ldr xt, [xn, #imm]
constexpr bool is_load_immediate(std::uint32_t word) { return is(word, 0xffc00000, 0xf9400000); }
constexpr std::uint64_t load_immediate(std::uint32_t word) {
  return std::uint64_t{bits(word, 10, 12)} * 8;
}

constexpr bool is_hint(std::uint32_t word) { return is(word, 0xfffff01f, 0xd503201f); }
constexpr bool is_nop(std::uint32_t word) { return word == 0xd503201f; }
// bti of any kind but the plain one, and what signs the return address: indirect branches arrive.
constexpr bool is_landing_pad(std::uint32_t word) {
  const std::uint32_t hint = bits(word, 5, 7);
  return is_hint(word) && (hint == 25 || hint == 27 || hint == 34 || hint == 36 || hint == 38);
}
// bl, and b without a condition.
constexpr bool is_call(std::uint32_t word) { return is(word, 0xfc000000, 0x94000000); }
constexpr bool is_jump(std::uint32_t word) { return is(word, 0xfc000000, 0x14000000); }
constexpr Address jump_target(std::uint32_t word, Address address) {
  return address + static_cast<Address>(signed_bits(word, 0, 26) * 4);
}

}  // namespace whocall::aarch64
