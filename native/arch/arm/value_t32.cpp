// The half words of T32 as steps of values; fields as in t32.cpp.
#include "arch/arm/value_t32.h"

#include <array>

namespace whocall::arm {
namespace {

class HalfValues : public ValueParts {
 public:
  HalfValues(std::uint32_t half, ByteView code, Address address, ValueFlow& out)
      : ValueParts(code, address, true, out), half_(half) {}

  bool read() {
    switch (bits(half_, 12, 4)) {
      case 0x0:
      case 0x1:
        shifted_or_summed();
        break;
      case 0x2:
      case 0x3:
        immediates();
        break;
      case 0x4:
        registers_or_literal();
        break;
      case 0x5:
        indexed();
        break;
      case 0x6:
      case 0x7:
      case 0x8:
        based();
        break;
      case 0x9:
        access({.value = low(8), .base = kSp, .offset = words(8), .load = bit(half_, 11)});
        break;
      case 0xa:
        add(low(8), bit(half_, 11) ? kSp : kPc, words(8));
        break;
      case 0xb:
        return miscellaneous();
      case 0xc:
        many({.base = low(8), .list = bits(half_, 0, 8), .load = bit(half_, 11)});
        break;
      case 0xd:
        is(half_, 0xff00, 0xdf00) ? lose(0) : void();  // svc
        break;
      default:
        break;
    }
    return true;
  }

 private:
  [[nodiscard]] Register low(unsigned at) const { return number(half_, at, 3); }
  // An amount of so many bits, in words.
  [[nodiscard]] std::int64_t words(unsigned count) const {
    return std::int64_t{bits(half_, 0, count)} * kWord;
  }

  void shifted_or_summed() {
    const auto amount = std::int64_t{bits(half_, 6, 3)};
    switch (bits(half_, 9, 4)) {
      case 12:
        return add(low(0), low(3), low(6), 0);
      case 13:
        return compute(low(0), {low(3), low(6)});
      case 14:
        return add(low(0), low(3), amount);
      case 15:
        return add(low(0), low(3), -amount);
      default:
        break;
    }
    if (bits(half_, 11, 2) != 0) {
      return compute(low(0), {low(3)});
    }
    const unsigned left = bits(half_, 6, 5);
    left == 0 ? move(low(0), low(3)) : shift_left(low(0), low(3), left);
  }

  void immediates() {
    const auto amount = std::int64_t{bits(half_, 0, 8)};
    switch (bits(half_, 11, 2)) {
      case 0:
        return put_in(low(8), constant(bits(half_, 0, 8)));
      case 1:
        return compare({low(8)});
      case 2:
        return add(low(8), low(8), amount);
      default:
        return add(low(8), low(8), -amount);
    }
  }

  void registers_or_literal() {
    if (bit(half_, 11)) {
      return access({.value = low(8), .base = kPc, .offset = words(8), .load = true});
    }
    if (bit(half_, 10)) {
      return high_registers();
    }
    switch (bits(half_, 6, 4)) {
      case 8:
      case 10:
      case 11:
        return compare({low(0), low(3)});
      case 9:
      case 15:
        return compute(low(0), {low(3)});
      default:
        return compute(low(0), {low(0), low(3)});
    }
  }

  // add, cmp, mov, bx and blx, of all registers.
  void high_registers() {
    const auto to = static_cast<Register>(bits(half_, 0, 3) | bits(half_, 7, 1) << 3U);
    const Register from = number(half_, 3);
    switch (bits(half_, 8, 2)) {
      case 0:
        return add(to, to, from, 0);
      case 1:
        return compare({to, from});
      case 2:
        return move(to, from);
      default:
        return bit(half_, 7) ? call(from) : go_to(from);
    }
  }

  void indexed() {
    constexpr std::array<std::uint8_t, 8> kSizes = {4, 2, 1, 1, 4, 2, 1, 2};
    const std::uint32_t operation = bits(half_, 9, 3);
    access({.value = low(0),
            .base = low(3),
            .index = low(6),
            .load = operation >= 3,
            .size = kSizes.at(operation),
            .is_signed = operation == 3 || operation == 7});
  }

  void based() {
    const std::uint32_t group = bits(half_, 12, 4);
    const std::uint8_t size = group == 6 ? 4 : group == 7 ? 1 : 2;
    access({.value = low(0),
            .base = low(3),
            .offset = std::int64_t{bits(half_, 6, 5)} * size,
            .load = bit(half_, 11),
            .size = size});
  }

  bool miscellaneous() {
    if (is(half_, 0xff00, 0xb000)) {
      add(kSp, kSp, bit(half_, 7) ? -words(7) : words(7));
    } else if (is(half_, 0xf500, 0xb100)) {
      compare({low(0)});  // cbz, cbnz
    } else if (is(half_, 0xf600, 0xb400)) {
      push_or_pop();
    } else if (is(half_, 0xff00, 0xb200)) {
      const bool is_byte = bit(half_, 6);
      extend(low(0), kPc, low(3), is_byte ? 1 : 2, !bit(half_, 7), false);
    } else if (is(half_, 0xff00, 0xba00)) {
      compute(low(0), {low(3)});
    } else {
      return is(half_, 0xfe00, 0xbe00) || is(half_, 0xffc0, 0xb640);  // bkpt, hints; setend, cps
    }
    return true;
  }

  void push_or_pop() {
    const bool pops = bit(half_, 11);
    const std::uint32_t with = bits(half_, 8, 1) << (pops ? kPc : kLink);
    many({.list = bits(half_, 0, 8) | with, .load = pops, .up = pops, .before = !pops});
  }

  std::uint32_t half_;
};

}  // namespace

bool read_values_t32(ByteView code, Address address, ValueFlow& out, bool& leaves) {
  const auto first = half_at(code, 0);
  const auto second = half_at(code, 2);
  if (!first || (is_wide(*first) && !second)) {
    return false;
  }
  if (is_wide(*first)) {
    return read_values_wide(*first << 16U | *second, code, address, out, leaves);
  }
  HalfValues values(*first, code, address, out);
  const bool read = values.read();
  leaves = values.leaves();
  return read;
}

}  // namespace whocall::arm
