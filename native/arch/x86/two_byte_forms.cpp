#include "arch/x86/two_byte_forms.h"

namespace whocall::x86 {
namespace {

// SSE that has the same form without prefix and with that for packed doubles.
bool moves_vector(std::uint8_t opcode) {
  return opcode == 0x10 || opcode == 0x11 || opcode == 0x14 || opcode == 0x28 || opcode == 0x29 ||
         opcode == 0x2e || opcode == 0x2f || opcode == 0x51 || (opcode >= 0x54 && opcode <= 0x5a) ||
         (opcode >= 0x5c && opcode <= 0x5f);
}

}  // namespace

bool TwoByteForms::read_two_bytes(Instruction& out, std::uint8_t opcode) {
  if (opcode == 0x1f) {
    out.padding = true;
    return repeat_ == 0 && read_operands() && operands_.reg == 0;
  }
  if (nop_only_) {
    return false;
  }
  if (narrow_ || repeat_ != 0) {
    return read_prefixed(out, opcode);
  }
  switch (opcode & 0xf0U) {
    case 0x40:  // cmov
      return read_operands() && clobber(out, operands_.reg);
    case 0x80:
      return branch(out, opcode, signed_word());
    case 0x90:  // setcc
      return read_operands() && clobber_rm(out, true);
    default:
      break;
  }
  switch (opcode) {
    case 0x0b:  // ud2
      return stop(out, false);
    case 0xaf:  // imul
    case 0xb6:  // movzx, movsx
    case 0xb7:
    case 0xbe:
    case 0xbf:
      return read_operands() && clobber(out, operands_.reg);
    default:
      return moves_vector(opcode) && read_operands();
  }
}

bool TwoByteForms::read_prefixed(Instruction& out, std::uint8_t opcode) {
  if (repeat_ != 0) {
    return !narrow_ && read_scalar(out, opcode);
  }
  switch (opcode) {
    case 0x6c:
    case 0x6d:
    case 0x6e:  // movd, movq
    case 0x6f:
    case 0x7f:
    case 0xef:
      return read_operands();
    case 0x7e:
      return read_operands() && clobber_rm(out, false);
    case 0xd6:
      return read_operands() && operands_.in_memory;
    default:
      return moves_vector(opcode) && read_operands();
  }
}

// With F2 or F3.
bool TwoByteForms::read_scalar(Instruction& out, std::uint8_t opcode) {
  const bool third = repeat_ == 0xf3;
  switch (opcode) {
    case 0x1e:  // endbr64, endbr32
      out.landing_pad = bytes_[at_] == 0xfa || bytes_[at_] == 0xfb;
      return skip(1) && third && rex_ == 0 && out.landing_pad;
    case 0x2c:  // to an integer
    case 0x2d:
      return read_operands() && clobber(out, operands_.reg);
    case 0x6f:
    case 0x7e:
    case 0x7f:
      return third && read_operands();
    case 0x10:
    case 0x11:
    case 0x2a:
    case 0x51:
    case 0x58:
    case 0x59:
    case 0x5a:
    case 0x5c:
    case 0x5d:
    case 0x5e:
    case 0x5f:
      return read_operands();
    default:
      return false;
  }
}

}  // namespace whocall::x86
