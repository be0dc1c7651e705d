#include "arch/x86/vector.h"

namespace whocall::x86 {
namespace {

enum class Encoding : std::uint8_t { vex, evex };

// What stands before the opcode.
struct Prefix {
  Encoding encoding = Encoding::vex;
  std::uint8_t size = 0;       // bytes, with the opcode
  std::uint8_t map = 0;        // 1: 0F, 2: 0F 38, 3: 0F 3A, 5 and 6: of EVEX only
  std::uint8_t mandatory = 0;  // 0: none, 1: 66, 2: F3, 3: F2
  std::uint8_t opcode = 0;
  bool high_reg = false;  // the register operands are 8 to 15
  bool high_rm = false;
};

std::optional<std::uint8_t> byte(ByteView code, std::size_t offset) {
  return code.read<std::uint8_t>(offset);
}

bool is_address_prefix(std::uint8_t value) {
  switch (value) {
    case 0x26:  // segments, and the address size
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x67:
      return true;
    default:
      return false;
  }
}

std::optional<Prefix> read_prefix(ByteView code, bool is_64) {
  const auto first = byte(code, 0);
  const auto second = byte(code, 1);
  const auto third = byte(code, 2);
  // Without 64-bit mode the same first bytes are lds, les and bound, whose operand is in memory.
  if (!third || (!is_64 && (*second & 0xc0U) != 0xc0)) {
    return std::nullopt;
  }
  const bool high_reg = (*second & 0x80U) == 0;
  if (*first == 0xc5) {
    return Prefix{Encoding::vex, 3,        1,    static_cast<std::uint8_t>(*second & 3U),
                  *third,        high_reg, false};
  }
  const bool high_rm = (*second & 0x20U) == 0;
  if (const auto opcode = byte(code, 3); opcode && *first == 0xc4) {
    return Prefix{Encoding::vex,
                  4,
                  static_cast<std::uint8_t>(*second & 0x1fU),
                  static_cast<std::uint8_t>(*third & 3U),
                  *opcode,
                  high_reg,
                  high_rm};
  }
  if (const auto opcode = byte(code, 4); opcode && *first == 0x62 && (*third & 4U) != 0) {
    return Prefix{Encoding::evex,
                  5,
                  static_cast<std::uint8_t>(*second & 7U),
                  static_cast<std::uint8_t>(*third & 3U),
                  *opcode,
                  high_reg,
                  high_rm};
  }
  return std::nullopt;
}

bool map_is_known(const Prefix& prefix) {
  const bool evex_only = prefix.map == 5 || prefix.map == 6;
  return (prefix.map >= 1 && prefix.map <= 3) || (evex_only && prefix.encoding == Encoding::evex);
}

bool has_immediate(const Prefix& prefix) {
  if (prefix.map != 1) {
    return prefix.map == 3;
  }
  switch (prefix.opcode) {
    case 0x70:  // shuffles and shifts
    case 0x71:
    case 0x72:
    case 0x73:
    case 0xc2:  // comparisons
    case 0xc4:  // word inserts, extracts, shuffles
    case 0xc5:
    case 0xc6:
      return true;
    default:
      return false;
  }
}

enum class Operand : std::uint8_t { none, reg, rm };

// Which operand of the instruction is a general register that it writes.
Operand written_operand(const Prefix& prefix) {
  if (prefix.map == 3) {  // extracts
    return prefix.opcode >= 0x14 && prefix.opcode <= 0x17 ? Operand::rm : Operand::none;
  }
  if (prefix.map != 1 && prefix.map != 5) {
    return Operand::none;
  }
  switch (prefix.opcode) {
    case 0x2c:  // conversions of a scalar to an integer
    case 0x2d:
    case 0x78:
    case 0x79:
      return prefix.mandatory >= 2 ? Operand::reg : Operand::none;
    case 0x93:  // kmov
      return prefix.encoding == Encoding::vex ? Operand::reg : Operand::none;
    case 0xc5:  // vpextrw
      return Operand::reg;
    case 0x7e:  // vmovd, vmovq
      return prefix.mandatory == 1 ? Operand::rm : Operand::none;
    default:
      return Operand::none;
  }
}

// Bytes of ModRM, SIB and displacement; a miss when the code ends before.
std::optional<std::uint8_t> operand_size(ByteView code, std::size_t offset) {
  const auto modrm = byte(code, offset);
  if (!modrm) {
    return std::nullopt;
  }
  const unsigned mod = *modrm >> 6U;
  const unsigned rm = *modrm & 7U;
  if (mod == 3) {
    return 1;
  }
  std::uint8_t size = 1;
  unsigned base = rm;
  if (rm == 4) {
    const auto sib = byte(code, offset + 1);
    if (!sib) {
      return std::nullopt;
    }
    base = *sib & 7U;
    ++size;
  }
  if (mod == 2 || (mod == 0 && base == 5)) {
    size += 4;
  } else if (mod == 1) {
    size += 1;
  }
  return size;
}

// 0F 01 with a register operand: rdpkru, wrpkru and their kin have no operands in truth.
std::optional<VectorInstruction> read_system_instruction(ByteView code) {
  const bool known = byte(code, 0) == 0x0f && byte(code, 1) == 0x01;
  const auto modrm = byte(code, 2);
  return known && modrm && *modrm >= 0xc0
             ? std::optional(VectorInstruction{.size = 3, .written = 0})
             : std::nullopt;
}

}  // namespace

std::optional<VectorInstruction> read_vector_instruction(ByteView code, bool is_64) {
  std::uint8_t skipped = 0;
  for (auto value = byte(code, 0); value && is_address_prefix(*value) && skipped < 4;
       value = byte(code, skipped)) {
    ++skipped;
  }
  const ByteView rest = code.from(skipped);
  const auto prefix = read_prefix(rest, is_64);
  if (!prefix || !map_is_known(*prefix)) {
    return read_system_instruction(code);
  }
  const bool bare = prefix->encoding == Encoding::vex && prefix->map == 1 && prefix->opcode == 0x77;
  if (bare) {  // vzeroupper, vzeroall: nothing behind the opcode
    return VectorInstruction{.size = static_cast<std::uint8_t>(skipped + prefix->size)};
  }
  const auto operands = operand_size(rest, prefix->size);
  if (!operands) {
    return std::nullopt;
  }
  VectorInstruction result;
  result.size = static_cast<std::uint8_t>(skipped + prefix->size + *operands +
                                          (has_immediate(*prefix) ? 1 : 0));
  if (result.size > code.size()) {
    return std::nullopt;
  }
  const unsigned modrm = *byte(rest, prefix->size);
  const bool in_register = modrm >= 0xc0;
  const Operand written = written_operand(*prefix);
  if (written == Operand::reg) {
    result.written = static_cast<std::uint8_t>(((modrm >> 3U) & 7U) + (prefix->high_reg ? 8 : 0));
  } else if (written == Operand::rm && in_register) {
    result.written = static_cast<std::uint8_t>((modrm & 7U) + (prefix->high_rm ? 8 : 0));
  }
  return result;
}

}  // namespace whocall::x86
