// The fields of RISC-V instructions, and those that come in one form alone.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/registers.h"
#include "base/address.h"
#include "base/byte_view.h"

namespace whocall::riscv {

inline constexpr std::uint8_t kCompressed = 2;  // bytes
inline constexpr std::uint8_t kWidth = 4;       // bytes, of all others

// Instructions are little-endian parcels of 16 bits, whatever the data are.
inline std::optional<std::uint16_t> parcel_at(ByteView code, std::uint64_t at) {
  return ByteView(code.from(at).bytes(), Endian::little).read<std::uint16_t>(0);
}
inline std::optional<std::uint32_t> word_at(ByteView code, std::uint64_t at) {
  return ByteView(code.from(at).bytes(), Endian::little).read<std::uint32_t>(0);
}
constexpr bool is_compressed(std::uint32_t code) { return (code & 3U) != 3; }
// Longer ones have been thought of, and nobody has them.
constexpr bool is_word(std::uint32_t code) { return (code & 3U) == 3 && (code & 0x1fU) != 0x1f; }

constexpr std::uint32_t bits(std::uint32_t word, unsigned low, unsigned count) {
  return word >> low & ((1U << count) - 1);
}
constexpr std::int64_t sign_extended(std::uint64_t value, unsigned count) {
  const std::uint64_t sign = std::uint64_t{1} << (count - 1);
  return static_cast<std::int64_t>((value ^ sign) - sign);
}

constexpr std::uint32_t opcode(std::uint32_t word) { return bits(word, 0, 7); }
constexpr Register rd(std::uint32_t word) { return static_cast<Register>(bits(word, 7, 5)); }
constexpr std::uint32_t funct3(std::uint32_t word) { return bits(word, 12, 3); }
constexpr Register rs1(std::uint32_t word) { return static_cast<Register>(bits(word, 15, 5)); }
constexpr Register rs2(std::uint32_t word) { return static_cast<Register>(bits(word, 20, 5)); }
constexpr std::uint32_t funct7(std::uint32_t word) { return bits(word, 25, 7); }

// The immediate operands, by the letters of the manual.
constexpr std::int64_t immediate_i(std::uint32_t word) {
  return sign_extended(bits(word, 20, 12), 12);
}
constexpr std::int64_t immediate_s(std::uint32_t word) {
  return sign_extended(bits(word, 25, 7) << 5U | bits(word, 7, 5), 12);
}
constexpr std::int64_t immediate_b(std::uint32_t word) {
  return sign_extended(bits(word, 31, 1) << 12U | bits(word, 7, 1) << 11U |
                           bits(word, 25, 6) << 5U | bits(word, 8, 4) << 1U,
                       13);
}
constexpr std::int64_t immediate_u(std::uint32_t word) {
  return sign_extended(word & 0xfffff000U, 32);
}
constexpr std::int64_t immediate_j(std::uint32_t word) {
  return sign_extended(bits(word, 31, 1) << 20U | bits(word, 12, 8) << 12U |
                           bits(word, 20, 1) << 11U | bits(word, 21, 10) << 1U,
                       21);
}
// Of c.j.
constexpr std::int64_t immediate_cj(std::uint32_t parcel) {
  return sign_extended(bits(parcel, 12, 1) << 11U | bits(parcel, 8, 1) << 10U |
                           bits(parcel, 9, 2) << 8U | bits(parcel, 6, 1) << 7U |
                           bits(parcel, 7, 1) << 6U | bits(parcel, 2, 1) << 5U |
                           bits(parcel, 11, 1) << 4U | bits(parcel, 3, 3) << 1U,
                       12);
}

inline constexpr std::uint32_t kLui = 0x37;
inline constexpr std::uint32_t kAuipc = 0x17;
inline constexpr std::uint32_t kJal = 0x6f;
inline constexpr std::uint32_t kJalr = 0x67;
inline constexpr std::uint32_t kOpImm = 0x13;
inline constexpr std::uint32_t kLoad = 0x03;

constexpr bool is_auipc(std::uint32_t word) { return opcode(word) == kAuipc; }
constexpr bool is_jalr(std::uint32_t word) { return opcode(word) == kJalr && funct3(word) == 0; }
constexpr bool is_addi(std::uint32_t word) { return opcode(word) == kOpImm && funct3(word) == 0; }
constexpr bool is_ld(std::uint32_t word) { return opcode(word) == kLoad && funct3(word) == 3; }
// lpad: where indirect calls and jumps arrive.
constexpr bool is_landing_pad(std::uint32_t word) { return is_auipc(word) && rd(word) == 0; }

// auipc rX, and a jump by rX behind it: as far as the address space goes.
constexpr bool is_far_jump(std::uint32_t first, std::uint32_t second) {
  return is_auipc(first) && rd(first) != 0 && is_jalr(second) && rs1(second) == rd(first);
}
constexpr Address far_target(std::uint32_t first, std::uint32_t second, Address address) {
  return address + static_cast<Address>(immediate_u(first) + immediate_i(second));
}

}  // namespace whocall::riscv
