// What AArch64 instructions do to the things that unwinding follows. The Arm Architecture Reference
// Manual for A-profile, C4 "A64 instruction set encoding".
#pragma once

#include "arch/aarch64/frame_facts.h"
#include "arch/instruction.h"

namespace whocall::aarch64 {

class Decoder final : public InstructionDecoder {
 public:
  std::optional<Instruction> decode(ByteView code, Address address) override;
  std::string text(ByteView code, Address address) override;
  std::optional<Operation> operation(ByteView code, Address address) override;
};

}  // namespace whocall::aarch64
