// Instructions of MIPS I to MIPS64 release 5, in the words of the analysis.
//
// Source: MIPS Architecture For Programmers, volume II-A (the 32-bit and 64-bit instruction sets,
// release 5). MIPS16e and microMIPS, whose code stands at odd addresses, and the moved opcodes of
// release 6 are not decoded.
#pragma once

#include "arch/instruction.h"
#include "arch/mips/dialect.h"

namespace whocall::mips {

class Decoder : public InstructionDecoder {
 public:
  explicit Decoder(Dialect dialect) : dialect_(dialect) {}

  // A jump, branch or call is one unit with the instruction in its delay slot.
  std::optional<Instruction> decode(ByteView code, Address address) override;
  std::string text(ByteView code, Address address) override;
  std::optional<Operation> operation(ByteView code, Address address) override;

 private:
  Dialect dialect_;
};

template <bool WideRegisters, bool WidePointers, Endian Order>
class DecoderOf final : public Decoder {
 public:
  DecoderOf() : Decoder({WideRegisters, WidePointers, Order}) {}
};

}  // namespace whocall::mips
