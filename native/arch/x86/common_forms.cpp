#include "arch/x86/common_forms.h"

#include <algorithm>

#include "arch/x86/two_byte_forms.h"

namespace whocall::x86 {
namespace {

class Form : private TwoByteForms {
 public:
  Form(const FormBytes& bytes, Address address, Dialect dialect)
      : TwoByteForms(bytes, address, dialect) {}

  // Whether it is one of the common forms.
  bool read(Instruction& out) {
    const bool known = read_prefixes() && read_opcode(out);
    out.size = static_cast<std::uint8_t>(at_);
    return known;
  }

 private:
  bool read_opcode(Instruction& out) {
    const std::uint8_t opcode = bytes_[at_++];
    if (opcode == 0x0f) {
      return read_two_bytes(out, bytes_[at_++]);
    }
    if (nop_only_ || repeat_ != 0) {
      return false;
    }
    if (opcode < 0x40) {
      return arithmetic(out, opcode >> 3U, opcode & 7U);
    }
    return narrow_ ? narrow(out, opcode) : full(out, opcode);
  }

  // With the prefix for 16 bits.
  bool narrow(Instruction& out, std::uint8_t opcode) {
    switch (opcode) {
      case 0x81:
      case 0x83:
        return immediate_arithmetic(out, opcode);
      case 0x85:
        return read_operands();
      case 0x89:
      case 0x8b:
        return move(out, opcode);
      case 0x90:
        out.padding = rex_ == 0;
        return rex_ == 0;
      case 0xc7:
        return move_immediate(out, opcode);
      default:
        return false;
    }
  }

  bool full(Instruction& out, std::uint8_t opcode) {
    switch (opcode & 0xf8U) {
      case 0x40:
      case 0x48:  // inc and dec; in 64-bit code a second REX
        return !is_64_ && clobber(out, opcode & 7U);
      case 0x50:
        return push(out, register_number((opcode & 7U) | (rex_ & 1U) << 3U));
      case 0x58:
        return pop(out, register_number((opcode & 7U) | (rex_ & 1U) << 3U));
      case 0x70:
      case 0x78:
        return branch(out, opcode, signed_byte());
      case 0xb0:
        at_ += 1;
        return clobber(out, byte_register((opcode & 7U) | (rex_ & 1U) << 3U));
      case 0xb8:
        at_ += is_64_ && whole_ ? 8 : 4;
        return clobber(out, (opcode & 7U) | (rex_ & 1U) << 3U);
      default:
        return one_byte(out, opcode);
    }
  }

  bool one_byte(Instruction& out, std::uint8_t opcode) {
    switch (opcode) {
      case 0x63:  // movsxd
        return is_64_ && read_operands() && clobber(out, operands_.reg);
      case 0x68:
        at_ += 4;
        return push(out, kNoRegister);
      case 0x6a:
        at_ += 1;
        return push(out, kNoRegister);
      case 0x69:  // imul
      case 0x6b:
        return read_operands() && skip(opcode == 0x69 ? 4 : 1) && clobber(out, operands_.reg);
      case 0x80:
      case 0x81:
      case 0x83:
        return immediate_arithmetic(out, opcode);
      case 0x84:  // test
      case 0x85:
        return read_operands();
      case 0x88:
      case 0x89:
      case 0x8a:
      case 0x8b:
        return move(out, opcode);
      case 0x8d:
        return lea(out);
      case 0x90:
        out.padding = rex_ == 0;
        return rex_ == 0;
      case 0xa8:  // test of the accumulator
      case 0xa9:
        return skip(opcode == 0xa8 ? 1 : 4);
      case 0xc0:  // shifts
      case 0xc1:
        return read_operands() && skip(1) && operands_.reg % 8 != 6 &&
               clobber_rm(out, opcode == 0xc0);
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
        return read_operands() && operands_.reg % 8 != 6 && clobber_rm(out, opcode % 2 == 0);
      case 0xc6:
      case 0xc7:
        return move_immediate(out, opcode);
      case 0xc9:
        return leave(out);
      case 0xf6:
      case 0xf7:
        return unary(out, opcode == 0xf6);
      default:
        return transfer(out, opcode);
    }
  }

  // Calls, jumps, returns.
  bool transfer(Instruction& out, std::uint8_t opcode) {
    using Flow = Instruction::Flow;
    switch (opcode) {
      case 0xc2:
        out.popped = static_cast<std::uint16_t>(bytes_[at_] | bytes_[at_ + 1] << 8U);
        return skip(2) && stop(out, true);
      case 0xc3:
        return stop(out, true);
      case 0xcc:
        out.padding = true;
        return stop(out, false);
      case 0xe8:
        out.flow = Flow::call;
        return aim(out, signed_word()) && out.target != address_ + at_;
      case 0xe9:
        out.flow = Flow::jump;
        return aim(out, signed_word());
      case 0xeb:
        out.flow = Flow::jump;
        return aim(out, signed_byte());
      case 0xfe:
      case 0xff:
        return step_or_go(out, opcode == 0xfe);
      default:
        return false;
    }
  }

  // add, or, adc, sbb, and, sub, xor, cmp; `form`: which operands.
  bool arithmetic(Instruction& out, unsigned what, unsigned form) {
    const bool bytes = form % 2 == 0;
    if (form >= 6) {
      return false;
    }
    if (form >= 4) {
      const std::int32_t amount = bytes ? signed_byte() : signed_immediate();
      return change(out, what, 0, bytes, amount);
    }
    if (!read_operands()) {
      return false;
    }
    const bool to_rm = form < 2;
    if (what == kCompare) {
      if (!bytes && address_sized_ && !operands_.in_memory) {
        const unsigned left = to_rm ? operands_.rm : operands_.reg;
        const unsigned right = to_rm ? operands_.reg : operands_.rm;
        out.add({Effect::Kind::compare, register_number(left), register_number(right), 0});
      }
      return true;
    }
    return to_rm ? clobber_rm(out, bytes)
                 : clobber(out, bytes ? byte_register(operands_.reg) : operands_.reg);
  }

  bool immediate_arithmetic(Instruction& out, std::uint8_t opcode) {
    if (!read_operands()) {
      return false;
    }
    const std::int32_t amount = opcode == 0x81 ? signed_immediate() : signed_byte();
    return operands_.in_memory ||
           change(out, operands_.reg % 8, operands_.rm, opcode == 0x80, amount);
  }

  // A register by an immediate amount.
  bool change(Instruction& out, unsigned what, unsigned number, bool bytes, std::int64_t amount) {
    if (what == kCompare) {
      return true;
    }
    if (!bytes && address_sized_ && (what == kAdd || what == kSubtract)) {
      const Register changed = register_number(number);
      out.add({Effect::Kind::set, changed, changed, what == kAdd ? amount : -amount});
      return true;
    }
    return clobber(out, bytes ? byte_register(number) : number);
  }

  bool move(Instruction& out, std::uint8_t opcode) {
    const bool bytes = opcode % 2 == 0;
    const bool whole = whole_ && !bytes;
    if (!read_operands()) {
      return false;
    }
    const bool from_rm = opcode >= 0x8a;
    const unsigned to = from_rm ? operands_.reg : operands_.rm;
    if (!operands_.in_memory && address_sized_ && !bytes) {
      const unsigned from = from_rm ? operands_.rm : operands_.reg;
      out.add({Effect::Kind::set, register_number(to), register_number(from), 0});
      return true;
    }
    if (!operands_.in_memory || (from_rm && !(whole && operands_.base != kNoRegister))) {
      return clobber(out, bytes ? byte_register(to) : to);
    }
    const Register reg = register_number(operands_.reg);
    if (from_rm) {
      out.add(indexed({Effect::Kind::load, reg, operands_.base, operands_.displacement}));
    } else if (whole && operands_.base != kNoRegister) {
      out.add(indexed({Effect::Kind::store, operands_.base, reg, operands_.displacement}));
    } else {
      store_other(out);
    }
    return true;
  }

  bool move_immediate(Instruction& out, std::uint8_t opcode) {
    if (!read_operands() || operands_.reg % 8 != 0) {
      return false;
    }
    at_ += opcode == 0xc6 ? 1 : immediate_size();
    if (!operands_.in_memory) {
      return clobber_rm(out, opcode == 0xc6);
    }
    store_other(out);
    return true;
  }

  void store_other(Instruction& out) const {
    if (operands_.base != kNoRegister && operands_.index == kNoRegister) {
      out.add({Effect::Kind::store_other, operands_.base, 0, operands_.displacement});
    }
  }

  [[nodiscard]] Effect indexed(Effect effect) const {
    if (operands_.index != kNoRegister) {
      effect.index = operands_.index;
      effect.scale = operands_.scale;
    }
    return effect;
  }

  bool lea(Instruction& out) {
    if (!read_operands() || !operands_.in_memory) {
      return false;
    }
    const Register to = register_number(operands_.reg);
    if (!address_sized_ || operands_.base == kNoRegister || operands_.index != kNoRegister) {
      return clobber(out, operands_.reg);
    }
    out.add({Effect::Kind::set, to, operands_.base, operands_.displacement});
    out.padding = to == operands_.base && operands_.displacement == 0;
    return true;
  }

  bool push(Instruction& out, Register source) const {
    out.add({Effect::Kind::set, sp(), sp(), -word()});
    out.add(source != kNoRegister && source != sp()
                ? Effect{Effect::Kind::store, sp(), source, 0}
                : Effect{Effect::Kind::store_other, sp(), 0, 0});
    return true;
  }

  bool pop(Instruction& out, Register destination) const {
    out.add({Effect::Kind::load, destination, sp(), 0});
    if (destination != sp()) {
      out.add({Effect::Kind::set, sp(), sp(), word()});
    }
    return true;
  }

  bool leave(Instruction& out) const {
    const Register fp = register_number(5);
    out.add({Effect::Kind::set, sp(), fp, 0});
    out.add({Effect::Kind::load, fp, sp(), 0});
    out.add({Effect::Kind::set, sp(), sp(), word()});
    return true;
  }

  // test, not, neg; multiplications and divisions by way of rax and rdx.
  bool unary(Instruction& out, bool bytes) {
    if (!read_operands()) {
      return false;
    }
    const unsigned what = operands_.reg % 8;
    if (what == 0) {
      return skip(bytes ? 1 : 4);
    }
    if (what == 2 || what == 3) {
      return clobber_rm(out, bytes);
    }
    return false;
  }

  // inc and dec; calls and jumps to where a register or a word says.
  bool step_or_go(Instruction& out, bool bytes) {
    using Flow = Instruction::Flow;
    if (!read_operands()) {
      return false;
    }
    const unsigned what = operands_.reg % 8;
    if (what < 2) {
      return clobber_rm(out, bytes);
    }
    out.flow = what == 2 ? Flow::call : Flow::indirect_jump;
    return !bytes && (what == 2 || what == 4);
  }

  static constexpr unsigned kAdd = 0;
  static constexpr unsigned kSubtract = 5;
  static constexpr unsigned kCompare = 7;
};

}  // namespace

std::optional<Instruction> decode_common_form(ByteView code, Address address, Dialect dialect) {
  FormBytes bytes{};
  const auto known = code.bytes().first(std::min(code.size(), kLongestForm));
  std::ranges::transform(known, bytes.begin(), std::to_integer<std::uint8_t>);
  std::optional<Instruction> result(std::in_place);
  if (!Form(bytes, address, dialect).read(*result) || result->size > code.size()) {
    return std::nullopt;
  }
  return result;
}

}  // namespace whocall::x86
