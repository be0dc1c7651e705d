// What RISC-V instructions do to the things that unwinding follows. The RISC-V Instruction Set
// Manual, volume I: RV64GC, and what later extensions write into general registers.
//
// A call or jump over any distance takes two instructions, auipc and jalr; they are decoded as one
// unit.
#pragma once

#include <utility>

#include "arch/instruction.h"
#include "arch/riscv/frame_facts.h"

namespace whocall::riscv {

class Decoder final : public InstructionDecoder {
 public:
  // `around`: where routines that save registers for others are looked at; may be empty.
  explicit Decoder(CodeReader around = {}) : around_(std::move(around)) {}
  std::optional<Instruction> decode(ByteView code, Address address) override;
  std::string text(ByteView code, Address address) override;
  std::optional<Operation> operation(ByteView code, Address address) override;

 private:
  // By what is called, where that saves registers for its caller.
  void read_saving_call(Instruction& call) const;

  CodeReader around_;
};

}  // namespace whocall::riscv
