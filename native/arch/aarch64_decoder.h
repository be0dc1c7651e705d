// What AArch64 instructions do to the things that unwinding follows. The Arm Architecture Reference
// Manual for A-profile, C4 "A64 instruction set encoding".
#pragma once

#include "arch/instruction.h"

namespace whocall::aarch64 {

inline constexpr Register kFp = 29;
inline constexpr Register kLink = 30;
inline constexpr Register kSp = 31;  // as DWARF numbers it; in many instructions 31 is no register

class Decoder final : public InstructionDecoder {
 public:
  std::optional<Instruction> decode(ByteView code, Address address) override;
  std::string text(ByteView code, Address address) override;
  std::optional<Operation> operation(ByteView code, Address address) override;
};

}  // namespace whocall::aarch64
