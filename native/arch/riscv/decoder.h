// What RISC-V instructions do to the things that unwinding follows. The RISC-V Instruction Set
// Manual, volume I: RV64GC, and what later extensions write into general registers.
//
// A call or jump over any distance takes two instructions, auipc and jalr; they are decoded as one
// unit.
#pragma once

#include "arch/instruction.h"
#include "arch/riscv/frame_facts.h"

namespace whocall::riscv {

class Decoder final : public InstructionDecoder {
 public:
  std::optional<Instruction> decode(ByteView code, Address address) override;
  std::string text(ByteView code, Address address) override;
  std::optional<Operation> operation(ByteView code, Address address) override;
};

}  // namespace whocall::riscv
