// What LoongArch instructions do to the things that unwinding follows. LoongArch Reference Manual,
// volume 1, appendix B "Table of Instruction Encoding"; vectors by the GNU assembler.
//
// A call or jump over any distance takes two instructions, which are decoded as one unit.
#pragma once

#include "arch/instruction.h"

namespace whocall::loongarch {

class Decoder final : public InstructionDecoder {
 public:
  std::optional<Instruction> decode(ByteView code, Address address) override;
  std::string text(ByteView code, Address address) override;
};

}  // namespace whocall::loongarch
