#include "arch/x86_common_forms.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "arch/x86_families.h"

namespace whocall::x86 {
namespace {

constexpr std::size_t kLongest = 24;      // bytes that a form may look at
constexpr std::size_t kMostPrefixes = 6;  // of a long nop

using Bytes = std::array<std::uint8_t, kLongest>;

// What ModRM, SIB and displacement tell.
struct Operands {
  unsigned reg = 0;  // the number in the reg field: a register, or what a group does
  unsigned rm = 0;   // the other register, where it is one
  bool in_memory = false;
  Register base = kNoRegister;   // of the memory operand; also for none and rip
  Register index = kNoRegister;  // kNoRegister: none
  std::uint8_t scale = 0;
  std::int32_t displacement = 0;  // bytes
};

class Form {
 public:
  Form(const Bytes& bytes, Address address, bool is_64)
      : bytes_(bytes), address_(address), is_64_(is_64) {}

  // Whether it is one of the common forms.
  bool read(Instruction& out) {
    const bool known = read_prefixes() && read_opcode(out);
    out.size = static_cast<std::uint8_t>(at_);
    return known;
  }

 private:
  bool read_prefixes() {
    for (;; ++at_) {
      const std::uint8_t value = bytes_[at_];
      if (value == 0x66 && !narrow_) {
        narrow_ = true;
      } else if (value == 0x66 || value == 0x2e) {
        nop_only_ = true;
      } else if ((value == 0xf2 || value == 0xf3) && repeat_ == 0) {
        repeat_ = value;
      } else {
        break;
      }
      if (at_ == kMostPrefixes) {
        return false;
      }
    }
    if (is_64_ && (bytes_[at_] & 0xf0U) == 0x40) {
      rex_ = bytes_[at_++];
    }
    whole_ = is_64_ ? (rex_ & 8U) != 0 : !narrow_;
    return !(narrow_ && rex_ >= 0x48);
  }

  bool read_opcode(Instruction& out) {
    const std::uint8_t opcode = bytes_[at_++];
    if (opcode == 0x0f) {
      return two_bytes(out, bytes_[at_++]);
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
    using Flow = Instruction::Flow;
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
        return skip(1);
      case 0xa9:
        return skip(4);
      case 0xc0:  // shifts
      case 0xc1:
        return read_operands() && skip(1) && operands_.reg % 8 != 6 &&
               clobber_rm(out, opcode == 0xc0);
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
        return read_operands() && operands_.reg % 8 != 6 && clobber_rm(out, opcode % 2 == 0);
      case 0xc2:
        out.popped = static_cast<std::uint16_t>(bytes_[at_] | bytes_[at_ + 1] << 8U);
        return skip(2) && stop(out, true);
      case 0xc3:
        return stop(out, true);
      case 0xc6:
      case 0xc7:
        return move_immediate(out, opcode);
      case 0xc9:
        return leave(out);
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
      case 0xf6:
      case 0xf7:
        return unary(out, opcode == 0xf6);
      case 0xfe:
      case 0xff:
        return step_or_go(out, opcode == 0xfe);
      default:
        return false;
    }
  }

  bool two_bytes(Instruction& out, std::uint8_t opcode) {
    if (opcode == 0x1f) {
      out.padding = true;
      return repeat_ == 0 && read_operands() && operands_.reg == 0;
    }
    if (nop_only_) {
      return false;
    }
    if (narrow_ || repeat_ != 0) {
      return prefixed_two_bytes(out, opcode);
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

  bool prefixed_two_bytes(Instruction& out, std::uint8_t opcode) {
    const bool scalar = repeat_ != 0 && !narrow_;
    if (repeat_ == 0xf3 && opcode == 0x1e && !narrow_ && rex_ == 0) {  // endbr64, endbr32
      out.landing_pad = bytes_[at_] == 0xfa || bytes_[at_] == 0xfb;
      return skip(1) && out.landing_pad;
    }
    if (narrow_ && repeat_ != 0) {
      return false;
    }
    if (scalar && (opcode == 0x2c || opcode == 0x2d)) {  // to an integer
      return read_operands() && clobber(out, operands_.reg);
    }
    if (scalar) {
      const bool known = opcode == 0x10 || opcode == 0x11 || opcode == 0x2a || opcode == 0x51 ||
                         opcode == 0x58 || opcode == 0x59 || opcode == 0x5a || opcode == 0x5c ||
                         (opcode >= 0x5d && opcode <= 0x5f) ||
                         (repeat_ == 0xf3 && (opcode == 0x6f || opcode == 0x7e || opcode == 0x7f));
      return known && read_operands();
    }
    switch (opcode) {
      case 0x6e:  // movd, movq
      case 0xd6:
      case 0x6c:
      case 0x6d:
      case 0x6f:
      case 0x7f:
      case 0xef:
        return read_operands() && (opcode != 0xd6 || operands_.in_memory);
      case 0x7e:
        return read_operands() && clobber_rm(out, false);
      default:
        return moves_vector(opcode) && read_operands();
    }
  }

  // SSE that has the same form without prefix and with that for packed doubles.
  static bool moves_vector(std::uint8_t opcode) {
    return opcode == 0x10 || opcode == 0x11 || opcode == 0x14 || opcode == 0x28 || opcode == 0x29 ||
           opcode == 0x2e || opcode == 0x2f || opcode == 0x51 ||
           (opcode >= 0x54 && opcode <= 0x5a) || (opcode >= 0x5c && opcode <= 0x5f);
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
      if (!bytes && whole_ && !operands_.in_memory) {
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
    if (!bytes && whole_ && (what == kAdd || what == kSubtract)) {
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
    if (!operands_.in_memory && whole) {
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
    if (!whole_ || operands_.base == kNoRegister || operands_.index != kNoRegister) {
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

  bool branch(Instruction& out, std::uint8_t opcode, std::int32_t distance) const {
    using Flow = Instruction::Flow;
    out.flow = opcode % 16 == 5 ? Flow::branch_if_unequal : Flow::branch;
    return aim(out, distance);
  }

  // The distance counts from the instruction's end, which was read last.
  bool aim(Instruction& out, std::int32_t distance) const {
    const Address target = address_ + at_ + static_cast<Address>(std::int64_t{distance});
    out.target = is_64_ ? target : target & 0xffffffff;
    return true;
  }

  static bool stop(Instruction& out, bool returns) {
    out.flow = Instruction::Flow::stop;
    out.returns = returns;
    return true;
  }

  bool clobber(Instruction& out, unsigned number) const {
    out.add({Effect::Kind::clobber, register_number(number)});
    return true;
  }
  bool clobber_rm(Instruction& out, bool bytes) const {
    return operands_.in_memory || clobber(out, bytes ? byte_register(operands_.rm) : operands_.rm);
  }

  // Without REX, the numbers from 4 on name the second byte of the first four registers.
  [[nodiscard]] unsigned byte_register(unsigned number) const {
    return rex_ == 0 && number >= 4 ? number - 4 : number;
  }

  bool read_operands() {
    const std::uint8_t modrm = bytes_[at_++];
    const unsigned mod = modrm >> 6U;
    operands_.reg = (modrm >> 3U & 7U) | (rex_ & 4U) << 1U;
    operands_.rm = (modrm & 7U) | (rex_ & 1U) << 3U;
    operands_.in_memory = mod != 3;
    if (!operands_.in_memory) {
      return true;
    }
    bool has_base = true;
    unsigned base = operands_.rm;
    if (base % 8 == 4) {
      const std::uint8_t sib = bytes_[at_++];
      const unsigned index = (sib >> 3U & 7U) | (rex_ & 2U) << 2U;
      operands_.index = index != 4 ? register_number(index) : kNoRegister;
      operands_.scale = static_cast<std::uint8_t>(1U << (sib >> 6U));
      base = (sib & 7U) | (rex_ & 1U) << 3U;
    }
    if (mod == 0 && base % 8 == 5) {  // a number alone, or a distance from rip
      has_base = false;
    }
    operands_.base = has_base ? register_number(base) : kNoRegister;
    operands_.displacement = mod == 1 ? signed_byte() : mod == 2 || !has_base ? signed_word() : 0;
    return true;
  }

  bool skip(std::size_t size) {
    at_ += size;
    return true;
  }
  std::int32_t signed_byte() { return static_cast<std::int8_t>(bytes_[at_++]); }
  std::int32_t signed_word() {
    std::int32_t value = 0;
    std::uint32_t raw = 0;
    for (unsigned i = 0; i < 4; ++i) {
      raw |= std::uint32_t{bytes_[at_++]} << 8 * i;
    }
    std::memcpy(&value, &raw, sizeof value);
    return value;
  }
  [[nodiscard]] std::size_t immediate_size() const { return narrow_ ? 2 : 4; }
  std::int32_t signed_immediate() { return narrow_ ? (at_ += 2, 0) : signed_word(); }

  [[nodiscard]] Register register_number(unsigned number) const {
    const Family& family = kFamilies[number];
    return is_64_ ? family.number64 : family.number32;
  }
  [[nodiscard]] Register sp() const { return register_number(4); }
  [[nodiscard]] std::int64_t word() const { return is_64_ ? 8 : 4; }

  static constexpr unsigned kAdd = 0;
  static constexpr unsigned kSubtract = 5;
  static constexpr unsigned kCompare = 7;

  const Bytes& bytes_;
  Address address_;
  bool is_64_;
  std::size_t at_ = 0;
  bool narrow_ = false;      // 66: operands of 16 bits, or packed doubles
  bool nop_only_ = false;    // prefixes that only long nops have
  std::uint8_t repeat_ = 0;  // F2 or F3
  unsigned rex_ = 0;
  bool whole_ = false;  // operands have the size of a word
  Operands operands_;
};

}  // namespace

std::optional<Instruction> decode_common_form(ByteView code, Address address, bool is_64) {
  Bytes bytes{};
  std::memcpy(bytes.data(), code.bytes().data(), std::min(code.size(), kLongest));
  std::optional<Instruction> result(std::in_place);
  if (!Form(bytes, address, is_64).read(*result) || result->size > code.size()) {
    return std::nullopt;
  }
  return result;
}

}  // namespace whocall::x86
