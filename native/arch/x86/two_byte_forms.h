// Common x86 instructions whose opcode begins with 0F: conditional moves and jumps, extensions,
// plain SSE.
#pragma once

#include "arch/x86/form_reader.h"

namespace whocall::x86 {

class TwoByteForms : protected FormReader {
 protected:
  using FormReader::FormReader;

  // Whether the opcode behind 0F, which was read last, is one of the common ones.
  bool read_two_bytes(Instruction& out, std::uint8_t opcode);

 private:
  bool read_prefixed(Instruction& out, std::uint8_t opcode);
  bool read_scalar(Instruction& out, std::uint8_t opcode);
};

}  // namespace whocall::x86
