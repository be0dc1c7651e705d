// Instructions of MIPS I to MIPS64 release 5, in the words of the analysis.
//
// Source: MIPS Architecture For Programmers, volume II-A (the 32-bit and 64-bit instruction sets,
// release 5). MIPS16e and microMIPS, whose code stands at odd addresses, and the moved opcodes of
// release 6 are not decoded.
#pragma once

#include "arch/instruction.h"

namespace whocall::mips {

// What a register of an ABI is, by number: the conventional names of the manuals.
inline constexpr Register kZero = 0;
inline constexpr Register kV0 = 2;
inline constexpr Register kA3 = 7;
inline constexpr Register kGp = 28;
inline constexpr Register kSp = 29;
inline constexpr Register kFp = 30;
inline constexpr Register kRa = 31;

// The words that calls and prologues save, and the order of bytes in instructions.
struct Dialect {
  bool wide_registers = false;  // 8 bytes: sd and ld save them
  bool wide_pointers = false;   // 8 bytes: daddiu counts with them
  Endian endian = Endian::little;
};

class Decoder : public InstructionDecoder {
 public:
  explicit Decoder(Dialect dialect) : dialect_(dialect) {}

  // A jump, branch or call is one unit with the instruction in its delay slot.
  std::optional<Instruction> decode(ByteView code, Address address) override;
  std::string text(ByteView code, Address address) override;

 private:
  Dialect dialect_;
};

template <bool WideRegisters, bool WidePointers, Endian Order>
class DecoderOf final : public Decoder {
 public:
  DecoderOf() : Decoder({WideRegisters, WidePointers, Order}) {}
};

}  // namespace whocall::mips
