// T32: one or two half words an instruction. The Arm Architecture Reference Manual for A-profile,
// F3 "T32 instruction set encoding".
#include "arch/arm/fields.h"
#include "arch/arm/t32_wide.h"

namespace whocall::arm {
namespace {

using Flow = Instruction::Flow;

// One half word.
class Reader {
 public:
  Reader(std::uint32_t half, Address address, Effects& out)
      : half_(half), address_(address), out_(out) {}

  bool read() {
    switch (bits(half_, 12, 4)) {
      case 0x0:
      case 0x1:
        shifted_or_summed();
        return true;
      case 0x2:
      case 0x3:
        immediates();
        return true;
      case 0x4:
        registers_or_literal();
        return true;
      case 0x5:
        indexed();
        return true;
      case 0x6:
      case 0x7:
      case 0x8:
        based();
        return true;
      case 0x9:
        out_.access({.value = number(half_, 8, 3),
                     .base = kSp,
                     .offset = std::int64_t{bits(half_, 0, 8)} * 4,
                     .load = bit(half_, 11)});
        return true;
      case 0xa:
        address();
        return true;
      case 0xb:
        return miscellaneous();
      case 0xc:
        multiple();
        return true;
      case 0xd:
        branch();
        return true;
      default:
        jump(Flow::jump, sign_extended(bits(half_, 0, 11), 11) * 2);
        return true;
    }
  }

 private:
  [[nodiscard]] Register low(unsigned at) const { return number(half_, at, 3); }
  void jump(Flow flow, std::int64_t distance) {
    out_.jump(flow, address_ + 4 + static_cast<Address>(distance));
  }

  void shifted_or_summed() {
    if (bits(half_, 11, 2) == 3 && bit(half_, 10)) {  // adds, subs rd, rn, #imm
      const auto amount = std::int64_t{bits(half_, 6, 3)};
      out_.set(low(0), low(3), bit(half_, 9) ? -amount : amount);
    } else if (bits(half_, 6, 7) == 0) {  // movs rd, rm
      out_.set(low(0), low(3));
    } else {
      out_.clobber(low(0));
    }
  }

  void immediates() {
    const std::uint32_t amount = bits(half_, 0, 8);
    switch (bits(half_, 11, 2)) {
      case 0:
        return out_.constant(low(8), amount);
      case 1:
        return;  // cmp
      case 2:
        return out_.set(low(8), low(8), amount);
      default:
        return out_.set(low(8), low(8), -std::int64_t{amount});
    }
  }

  void registers_or_literal() {
    if (bit(half_, 11)) {
      out_.load_literal(low(8), std::int64_t{bits(half_, 0, 8)} * 4, true, true);
    } else if (bit(half_, 10)) {
      high_registers();
    } else {
      const std::uint32_t operation = bits(half_, 6, 4);
      if (operation != 8 && operation != 10 && operation != 11) {  // not tst, cmp, cmn
        out_.clobber(low(0));
      }
    }
  }

  // add, cmp, mov, bx and blx, of all registers.
  void high_registers() {
    const auto to = static_cast<Register>(bits(half_, 0, 3) | bits(half_, 7, 1) << 3U);
    const Register from = number(half_, 3);
    switch (bits(half_, 8, 2)) {
      case 0:
        return out_.sum(to, to, from, false);
      case 1:
        return;
      case 2:
        return out_.set(to, from);
      default:
        if (bit(half_, 7)) {
          out_.call(std::nullopt);
        } else if (from == kPc) {  // into A32 behind it
          out_.jump(Flow::jump, data_base(address_, true));
        } else {
          out_.go_to(from);
        }
    }
  }

  void indexed() {
    const std::uint32_t operation = bits(half_, 9, 3);
    if (operation >= 3) {
      out_.clobber(low(0));
    }
  }

  // ldr, str and those of bytes and half words, at a constant distance from a low register.
  void based() {
    const std::uint32_t group = bits(half_, 12, 4);
    const std::int64_t scale = group == 6 ? 4 : group == 7 ? 1 : 2;
    out_.access({.value = low(0),
                 .base = low(3),
                 .offset = bits(half_, 6, 5) * scale,
                 .load = bit(half_, 11),
                 .whole = group == 6});
  }

  void address() {
    const auto amount = std::int64_t{bits(half_, 0, 8)} * 4;
    if (bit(half_, 11)) {
      out_.set(low(8), kSp, amount);
    } else {
      out_.clobber(low(8));
    }
  }

  bool miscellaneous() {
    if (is(half_, 0xff00, 0xb000)) {
      const auto amount = std::int64_t{bits(half_, 0, 7)} * 4;
      out_.set(kSp, kSp, bit(half_, 7) ? -amount : amount);
    } else if (is(half_, 0xf500, 0xb100)) {  // cbz, cbnz
      jump(Flow::branch, (bits(half_, 9, 1) << 5U | bits(half_, 3, 5)) * 2);
    } else if (is(half_, 0xf600, 0xb400)) {
      push_or_pop();
    } else if (is(half_, 0xff00, 0xb200) || is(half_, 0xff00, 0xba00)) {
      out_.clobber(low(0));  // extensions, reversals
    } else if (is(half_, 0xff00, 0xbe00)) {
      out_.stop();  // bkpt
    } else {
      return is(half_, 0xff00, 0xbf00) || is(half_, 0xffc0, 0xb640);  // hints; setend, cps
    }
    return true;
  }

  void push_or_pop() {
    const bool pops = bit(half_, 11);
    const std::uint32_t with = bits(half_, 8, 1) << (pops ? kPc : kLink);
    out_.many({.list = bits(half_, 0, 8) | with, .load = pops, .up = pops, .before = !pops});
  }

  void multiple() {
    out_.many({.base = low(8), .list = bits(half_, 0, 8), .load = bit(half_, 11)});
  }

  void branch() {
    const std::uint32_t condition = bits(half_, 8, 4);
    if (condition == 0xe) {
      out_.stop();  // udf
    } else if (condition == 0xf) {
      out_.system_call();
    } else {
      jump(Flow::branch, sign_extended(bits(half_, 0, 8), 8) * 2);
    }
  }

  std::uint32_t half_;
  Address address_;
  Effects& out_;
};

bool read_one(ByteView code, Address address, Instruction& out) {
  const auto first = half_at(code, 0);
  const auto second = half_at(code, 2);
  if (!first || (is_wide(*first) && !second)) {
    return false;
  }
  Effects effects(code, address, out);
  if (is_wide(*first)) {
    out.size = 4;
    out.padding = *first == 0xf3af && *second == 0x8000;
    return read_wide(*first << 16U | *second, address, effects);
  }
  out.size = 2;
  out.padding = *first == 0xbf00 || *first == 0x46c0;  // nop, and what was one before
  return Reader(*first, address, effects).read();
}

// What an instruction under a condition does, added to what the ones before it do.
void join(const Instruction& one, Instruction& out) {
  for (const Effect& effect : one.list()) {
    out.add(effect);
  }
  const bool goes_on = one.flow == Flow::next;
  if (!goes_on && out.flow != Flow::call) {
    out.flow = one.flow;
    out.target = one.target;
  }
}

// Up to four instructions that depend on a condition or its contrary. Only the last may jump.
bool read_if_then(ByteView code, Address address, Instruction& out) {
  const int count = if_then_count(half_at(code, 0).value_or(0));
  out.size = 2;
  for (int i = 0; i < count; ++i) {
    Instruction one;
    if (!read_one(code.from(out.size), address + out.size, one)) {
      return i != 0;  // behind what leaves nothing needs to stand
    }
    make_conditional(one);
    join(one, out);
    out.size = static_cast<std::uint16_t>(out.size + one.size);
  }
  return true;
}

}  // namespace

bool read_t32(ByteView code, Address address, Instruction& out) {
  const auto first = half_at(code, 0);
  return first && is_if_then(*first) ? read_if_then(code, address, out)
                                     : read_one(code, address, out);
}

}  // namespace whocall::arm
