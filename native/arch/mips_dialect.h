// What the ABIs of MIPS differ in, and what they call registers.
#pragma once

#include "arch/registers.h"
#include "base/byte_view.h"

namespace whocall::mips {

// What a register of an ABI is, by number: the conventional names of the manuals.
inline constexpr Register kZero = 0;
inline constexpr Register kV0 = 2;
inline constexpr Register kA3 = 7;
inline constexpr Register kT9 = 25;
inline constexpr Register kGp = 28;
inline constexpr Register kSp = 29;
inline constexpr Register kFp = 30;
inline constexpr Register kRa = 31;

// From the beginning of the global offset table to where gp points, bytes.
inline constexpr std::uint16_t kGpBehindTable = 0x7ff0;

// The words that calls and prologues save, and the order of bytes in instructions.
struct Dialect {
  bool wide_registers = false;  // 8 bytes: sd and ld save them
  bool wide_pointers = false;   // 8 bytes: daddiu counts with them
  Endian endian = Endian::little;
};

}  // namespace whocall::mips
