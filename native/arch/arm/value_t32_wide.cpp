// The long instructions of T32 as steps of values; fields as in t32_wide.cpp.
#include <array>

#include "arch/arm/value_t32.h"

namespace whocall::arm {
namespace {

class WideValues : public ValueParts {
 public:
  WideValues(std::uint32_t word, ByteView code, Address address, ValueFlow& out)
      : ValueParts(code, address, true, out), word_(word) {}

  void read() {
    if (bit(word_, 26) && bits(word_, 27, 2) != 2) {
      return coprocessor(word_);
    }
    switch (bits(word_, 27, 2)) {
      case 1:
        if (bit(word_, 25)) {
          return shifted();
        }
        return bit(word_, 22) ? pairs() : multiple();
      case 2:
        if (bit(word_, 15)) {
          return branches();
        }
        return bit(word_, 25) ? plain_immediate() : immediate();
      default:
        if (!bit(word_, 25)) {
          return single();
        }
        return bit(word_, 24) ? multiply() : registers();
    }
  }

 private:
  [[nodiscard]] Register rn() const { return number(word_, 16); }
  [[nodiscard]] Register rt() const { return number(word_, 12); }
  [[nodiscard]] Register rd() const { return number(word_, 8); }
  [[nodiscard]] Register rm() const { return number(word_, 0); }
  [[nodiscard]] std::uint32_t operation() const { return bits(word_, 21, 4); }
  [[nodiscard]] unsigned shift() const { return bits(word_, 12, 3) << 2U | bits(word_, 6, 2); }

  void multiple() {
    if (const auto found = wide_multiple(word_)) {
      many(*found);
    }
  }

  // ldrd, strd; exclusive accesses; tbb, tbh.
  void pairs() {
    const bool before = bit(word_, 24);
    const bool back = bit(word_, 21);
    if (!before && !back) {
      return exclusive();
    }
    const auto amount = std::int64_t{bits(word_, 0, 8)} * kWord;
    access_pair({.value = rt(),
                 .base = rn(),
                 .offset = bit(word_, 23) ? amount : -amount,
                 .load = bit(word_, 20),
                 .before = before,
                 .writes_back = back},
                rd());
  }
  void exclusive() {
    const bool whole = !bit(word_, 23);
    const bool pair = !whole && bits(word_, 4, 2) == 3;
    if (is(word_, 0xfff0ffe0, 0xe8d0f000)) {
      compare({rn(), rm()});  // tbb, tbh
    } else if (bit(word_, 20)) {
      load_exclusive(rn(), {rt(), pair ? rd() : kPc});
    } else {
      store_exclusive(rn(), {rt(), pair ? rd() : kPc}, whole ? rd() : rm());
    }
  }

  // Whether only flags come of it.
  [[nodiscard]] bool compares() const { return rd() == kPc; }

  // Operations with a register that may be shifted.
  void shifted() {
    const bool left = bits(word_, 4, 2) == 0;
    if (compares()) {
      return compare({rn(), rm()});
    }
    if (operation() == 2 && rn() == kPc && left) {
      return shift() == 0 ? move(rd(), rm()) : shift_left(rd(), rm(), shift());
    }
    if (operation() == 8 && left) {
      return add(rd(), rn(), rm(), shift());
    }
    compute(rd(), {rn(), rm()});
  }

  void immediate() {
    const std::uint32_t number = expanded_constant(constant_field(word_));
    if (compares()) {
      return compare({rn()});
    }
    switch (operation()) {
      case 0:
        return change_bits(rd(), rn(), Bits::kept, number);
      case 1:
        return change_bits(rd(), rn(), Bits::cleared, number);
      case 2:
        return rn() == kPc ? put_in(rd(), constant(number))
                           : change_bits(rd(), rn(), Bits::set, number);
      case 3:
        return rn() == kPc ? put_in(rd(), constant(~number)) : compute(rd(), {rn()});
      case 8:
        return add(rd(), rn(), distance(number));
      case 13:
        return add(rd(), rn(), -distance(number));
      default:
        return compute(rd(), {rn()});
    }
  }

  // addw, subw, movw, movt, bit fields, saturation.
  void plain_immediate() {
    const std::uint32_t number = constant_field(word_);
    const std::uint32_t half = bits(word_, 16, 4) << 12U | number;
    const unsigned count = bits(word_, 0, 5) + 1;
    switch (bits(word_, 20, 5)) {
      case 0x00:
        return add(rd(), rn(), number);
      case 0x0a:
        return add(rd(), rn(), -std::int64_t{number});
      case 0x04:
        return put_in(rd(), constant(half));
      case 0x0c: {
        ValueWrite value = constant(half << 16U);
        value.kept = 0xffff;
        return put(rd(), value);
      }
      case 0x14:
      case 0x1c:
        return extract(rd(), rn(), shift(), count, !bit(word_, 23));
      case 0x16:
        return compute(rd(), {rd(), rn()});
      default:
        return compute(rd(), {rn()});
    }
  }

  void branches() {
    if (bit(word_, 14)) {
      call();
    } else if (is(word_, 0xffe0d000, 0xf3e08000)) {
      lose(rd());  // mrs
    } else if (is(word_, 0xffe0d000, 0xf3808000)) {
      mix(rn());  // msr
    } else if (is(word_, 0xfff0d000, 0xf3c08000)) {
      go_to(rn());  // bxj
    }
  }

  // Shifts, extensions, parallel sums and others.
  void registers() {
    constexpr std::array<std::uint8_t, 8> kSizes = {2, 2, 0, 0, 1, 1, 0, 0};
    if (is(word_, 0xff80f080, 0xfa00f080)) {
      return extend(rd(), rn(), rm(), kSizes.at(bits(word_, 20, 3)), !bit(word_, 20),
                    bits(word_, 4, 2) != 0);
    }
    compute(rd(), {rn(), rm()});
  }

  void multiply() {
    if (!bit(word_, 23)) {
      return compute(rd(), {rn(), rm(), rt()});
    }
    const bool adds = bits(word_, 20, 3) >= 4;
    compute(rd(), {rn(), rm(), adds ? rd() : kPc, adds ? rt() : kPc});
    lose(rt());
  }

  void single() {
    const bool load = bit(word_, 20);
    if (bit(word_, 24) && !load) {
      return elements(word_);
    }
    Access moved{.value = rt(), .base = rn(), .load = load};
    moved.size = static_cast<std::uint8_t>(1U << bits(word_, 21, 2));
    moved.is_signed = bit(word_, 24);
    if (moved.size > kWord) {  // no instruction of today
      lose(load ? rt() : kPc);
      return lose(rn());
    }
    if (bit(word_, 23) || (rn() == kPc && load)) {
      const auto amount = std::int64_t{bits(word_, 0, 12)};
      moved.offset = bit(word_, 23) ? amount : -amount;
    } else if (bit(word_, 11)) {
      const auto amount = std::int64_t{bits(word_, 0, 8)};
      moved.offset = bit(word_, 9) ? amount : -amount;
      moved.before = bit(word_, 10);
      moved.writes_back = bit(word_, 8) || !moved.before;
    } else {
      moved.index = rm();
      moved.shift = bits(word_, 4, 2);
    }
    access(moved);
  }

  std::uint32_t word_;
};

}  // namespace

bool read_values_wide(std::uint32_t word, ByteView code, Address address, ValueFlow& out,
                      bool& leaves) {
  WideValues values(word, code, address, out);
  values.read();
  leaves = values.leaves();
  return true;
}

}  // namespace whocall::arm
