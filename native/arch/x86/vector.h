// The length of vector and mask instructions (VEX and EVEX prefixes) and of a few others that the
// decoder library does not know, computed from the encoding alone.
//
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 (VEX:
// section 2.3, EVEX: section 2.7).
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_view.h"

namespace whocall::x86 {

struct VectorInstruction {
  std::uint8_t size = 0;  // bytes
  // The general register that it writes, numbered as in machine code (0 rax, 1 rcx, 2 rdx, 3 rbx, 4
  // rsp, ... 15 r15).
  std::optional<std::uint8_t> written{};
};

// A miss when `code` does not begin with such an instruction, or ends within it.
std::optional<VectorInstruction> read_vector_instruction(ByteView code, bool is_64);

}  // namespace whocall::x86
