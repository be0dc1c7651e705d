// What the ABIs of MIPS differ in.
#pragma once

#include "arch/mips/frame_facts.h"
#include "arch/registers.h"
#include "base/byte_view.h"

namespace whocall::mips {

// From the beginning of the global offset table to where gp points, bytes.
inline constexpr std::uint16_t kGpBehindTable = 0x7ff0;

// The words that calls and prologues save, and the order of bytes in instructions.
struct Dialect {
  bool wide_registers = false;  // 8 bytes: sd and ld save them
  bool wide_pointers = false;   // 8 bytes: daddiu counts with them
  Endian endian = Endian::little;
};

}  // namespace whocall::mips
