// A32 as steps of values; fields as in a32.cpp.
#include <array>

#include "arch/arm/value_steps.h"

namespace whocall::arm {
namespace {

// The other one of a pair.
constexpr Register behind(Register number) {
  return number < kPc ? static_cast<Register>(number + 1) : kPc;
}

class A32Values : public ValueParts {
 public:
  A32Values(std::uint32_t word, ByteView code, Address address, ValueFlow& out)
      : ValueParts(code, address, false, out), word_(word) {}

  bool read() {
    if (bits(word_, 28, 4) == 0xf) {
      return unconditional();
    }
    switch (bits(word_, 25, 3)) {
      case 0:
        registers();
        break;
      case 1:
        immediates();
        break;
      case 2:
        single();
        break;
      case 3:
        bit(word_, 4) ? media() : single();
        break;
      case 4:
        many({.base = rn(),
              .list = bits(word_, 0, 16),
              .load = bit(word_, 20),
              .up = bit(word_, 23),
              .before = bit(word_, 24),
              .writes_back = bit(word_, 21)});
        break;
      case 5:
        bit(word_, 24) ? call() : void();
        break;
      default:
        is(word_, 0x0f000000, 0x0f000000) ? lose(0) : coprocessor(word_);
    }
    return true;
  }

 private:
  [[nodiscard]] Register rd() const { return number(word_, 12); }
  [[nodiscard]] Register rn() const { return number(word_, 16); }
  [[nodiscard]] Register rs() const { return number(word_, 8); }
  [[nodiscard]] Register rm() const { return number(word_, 0); }
  [[nodiscard]] unsigned shift() const { return bits(word_, 7, 5); }
  [[nodiscard]] bool shifts_left() const { return bits(word_, 5, 2) == 0; }

  bool unconditional() {
    if (is(word_, 0xfe000000, 0xfa000000)) {
      call();
    } else if (is(word_, 0xff100000, 0xf4000000)) {
      elements(word_);
    } else if (is(word_, 0xfe000000, 0xfc000000) || is(word_, 0xff000000, 0xfe000000)) {
      coprocessor(word_);
    }
    return !is(word_, 0xfe000000, 0xf8000000);
  }

  void registers() {
    if (bit(word_, 7) && bit(word_, 4)) {
      if (bits(word_, 5, 2) != 0) {
        small();
      } else if (bit(word_, 24)) {
        exclusive();
      } else {
        multiply();
      }
    } else if (is(word_, 0x01900000, 0x01000000)) {
      miscellaneous();
    } else {
      data();
    }
  }

  void multiply() {
    const std::uint32_t kind = bits(word_, 21, 3);
    const bool is_long = kind >= 4 || kind == 2;
    const bool adds = (kind & 1U) != 0 || kind == 2;
    mix(rm());
    mix(rs());
    if (adds) {
      mix(rd());
    }
    if (adds && is_long) {
      mix(rn());
    }
    if (is_long) {
      lose(rd());
    }
    lose(rn());
  }

  void exclusive() {
    const bool swaps = !bit(word_, 23);
    const bool pair = bits(word_, 21, 2) == 1;
    if (swaps) {
      store_exclusive(rn(), {rm()}, rd());
    } else if (bit(word_, 20)) {
      load_exclusive(rn(), {rd(), pair ? behind(rd()) : kPc});
    } else {
      store_exclusive(rn(), {rm(), pair ? behind(rm()) : kPc}, rd());
    }
  }

  // Half words, bytes with their sign, and pairs of words.
  void small() {
    const std::uint32_t kind = bits(word_, 5, 2);
    const bool pair = !bit(word_, 20) && kind >= 2;
    Access moved = form();
    moved.load = bit(word_, 20) || kind == 2;
    moved.size = pair ? kWord : kind == 2 ? 1 : 2;
    moved.is_signed = !pair && kind >= 2;
    if (bit(word_, 22)) {
      moved.offset = signed_by_u(bits(word_, 8, 4) << 4U | bits(word_, 0, 4));
    } else {
      moved.index = rm();
      moved.odd = !bit(word_, 23);
    }
    pair ? access_pair(moved, behind(rd())) : access(moved);
  }

  void single() {
    Access moved = form();
    moved.load = bit(word_, 20);
    moved.size = bit(word_, 22) ? 1 : kWord;
    if (!bit(word_, 25)) {
      moved.offset = signed_by_u(bits(word_, 0, 12));
    } else {
      moved.index = rm();
      moved.shift = shift();
      moved.odd = !bit(word_, 23) || !shifts_left();
    }
    access(moved);
  }
  [[nodiscard]] std::int64_t signed_by_u(std::uint32_t amount) const {
    return bit(word_, 23) ? std::int64_t{amount} : -std::int64_t{amount};
  }
  [[nodiscard]] Access form() const {
    const bool before = bit(word_, 24);
    return {
        .value = rd(), .base = rn(), .before = before, .writes_back = !before || bit(word_, 21)};
  }

  // bx, blx, clz, mrs, msr, products of half words and others.
  void miscellaneous() {
    const std::uint32_t kind = bits(word_, 4, 4);
    const std::uint32_t operation = bits(word_, 21, 2);
    if (kind >= 8) {
      return multiply_halves(operation);
    }
    switch (kind) {
      case 0:
        return bit(word_, 21) ? mix(rm()) : lose(rd());
      case 1:
        return operation == 1 ? go_to(rm()) : compute(rd(), {rm()});
      case 2:
        return go_to(rm());
      case 3:
        return operation == 1 ? call(rm()) : lose(rd());
      case 4:
      case 5:
        return compute(rd(), {rn(), rm()});
      default:
        return kind == 6 ? lose(rd()) : void();
    }
  }
  void multiply_halves(std::uint32_t operation) {
    const bool adds = operation == 0 || operation == 2 || (operation == 1 && !bit(word_, 5));
    mix(rm());
    mix(rs());
    if (adds) {
      mix(rd());
    }
    if (operation == 2) {
      mix(rn());
      lose(rd());
    }
    lose(rn());
  }

  void data() {
    const bool by_register = bit(word_, 4);
    const bool left = shifts_left() && !by_register;
    const Register by = by_register ? rs() : kPc;
    switch (bits(word_, 21, 4)) {
      case 4:
        return left ? add(rd(), rn(), rm(), shift()) : compute(rd(), {rn(), rm(), by});
      case 8:
      case 9:
      case 10:
      case 11:
        return compare({rn(), rm(), by});
      case 13:
        if (left) {
          return shift() == 0 ? move(rd(), rm()) : shift_left(rd(), rm(), shift());
        }
        return compute(rd(), {rm(), by});
      case 15:
        return compute(rd(), {rm(), by});
      default:
        return compute(rd(), {rn(), rm(), by});
    }
  }

  void immediates() {
    const std::uint32_t half = bits(word_, 16, 4) << 12U | bits(word_, 0, 12);
    if (is(word_, 0x0ff00000, 0x03000000)) {  // movw
      return put_in(rd(), constant(half));
    }
    if (is(word_, 0x0ff00000, 0x03400000)) {  // movt, behind movw
      ValueWrite value = constant(half << 16U);
      value.kept = 0xffff;
      return put(rd(), value);
    }
    if (is(word_, 0x0fb00000, 0x03200000)) {
      return;  // msr, hints
    }
    const std::uint32_t number = turned_constant(word_);
    switch (bits(word_, 21, 4)) {
      case 0:
        return change_bits(rd(), rn(), Bits::kept, number);
      case 2:
        return add(rd(), rn(), -distance(number));
      case 4:
        return add(rd(), rn(), distance(number));
      case 8:
      case 9:
      case 10:
      case 11:
        return compare({rn()});
      case 12:
        return change_bits(rd(), rn(), Bits::set, number);
      case 13:
        return put_in(rd(), constant(number));
      case 14:
        return change_bits(rd(), rn(), Bits::cleared, number);
      case 15:
        return put_in(rd(), constant(~number));
      default:
        return compute(rd(), {rn()});
    }
  }

  // Extensions, bit fields, products, parallel sums and others.
  void media() {
    if (is(word_, 0x0fa00070, 0x07a00050)) {  // sbfx, ubfx
      return extract(rd(), rm(), shift(), bits(word_, 16, 5) + 1, !bit(word_, 22));
    }
    if (is(word_, 0x0fe00070, 0x07c00010)) {  // bfi, bfc
      return compute(rd(), {rd(), rm()});
    }
    if (is(word_, 0x0ff000f0, 0x07f000f0)) {
      return;  // udf
    }
    if (bit(word_, 24)) {
      compute(rn(), {rm(), rs(), rd()});
      if (is(word_, 0x0ff00000, 0x07400000)) {
        mix(rn());
        lose(rd());
      }
      return;
    }
    if (is(word_, 0x0f8000f0, 0x06800070)) {
      constexpr std::array<std::uint8_t, 4> kSizes = {0, 0, 1, 2};
      return extend(rd(), rn(), rm(), kSizes.at(bits(word_, 20, 2)), !bit(word_, 22),
                    bits(word_, 10, 2) != 0);
    }
    const bool saturates = is(word_, 0x0fa00030, 0x06a00010) || is(word_, 0x0fb000f0, 0x06a00030);
    compute(rd(), {saturates ? kPc : rn(), rm()});
  }

  std::uint32_t word_;
};

}  // namespace

bool read_values_a32(ByteView code, Address address, ValueFlow& out, bool& leaves) {
  const auto word = word_at(code, 0);
  if (!word) {
    return false;
  }
  A32Values values(*word, code, address, out);
  const bool read = values.read();
  leaves = values.leaves();
  return read;
}

}  // namespace whocall::arm
