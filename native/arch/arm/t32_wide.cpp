#include "arch/arm/t32_wide.h"

namespace whocall::arm {
namespace {

using Flow = Instruction::Flow;

class Reader {
 public:
  Reader(std::uint32_t word, Address address, Effects& out)
      : word_(word), address_(address), out_(out) {}

  bool read() {
    if (bit(word_, 26) && bits(word_, 27, 2) != 2) {
      out_.coprocessor(word_);
      return true;
    }
    switch (bits(word_, 27, 2)) {
      case 1:
        if (bit(word_, 25)) {
          shifted();
        } else if (bit(word_, 22)) {
          pairs();
        } else {
          multiple();
        }
        return true;
      case 2:
        if (bit(word_, 15)) {
          return branches();
        }
        if (bit(word_, 25)) {
          plain_immediate();
        } else {
          immediate();
        }
        return true;
      default:
        others();
        return true;
    }
  }

 private:
  [[nodiscard]] Register rn() const { return number(word_, 16); }
  [[nodiscard]] Register rt() const { return number(word_, 12); }
  [[nodiscard]] Register rd() const { return number(word_, 8); }
  [[nodiscard]] Register rm() const { return number(word_, 0); }

  void multiple() {
    if (const auto found = wide_multiple(word_)) {
      out_.many(*found);
    }
  }

  // ldrd, strd; exclusive accesses; tbb, tbh.
  void pairs() {
    const bool before = bit(word_, 24);
    const bool back = bit(word_, 21);
    const bool load = bit(word_, 20);
    if (!before && !back) {
      exclusive(load);
      return;
    }
    const auto amount = std::int64_t{bits(word_, 0, 8)} * 4;
    const std::int64_t offset = bit(word_, 23) ? amount : -amount;
    if (rn() == kPc) {
      if (load) {
        out_.clobber(rt());
        out_.clobber(rd());
      }
      return;
    }
    if (before && back) {
      out_.set(rn(), rn(), offset);
    }
    const std::int64_t at = before && !back ? offset : 0;
    const bool first_is_base = load && rt() == rn();  // then it is read last
    const auto word = [&](bool first) {
      out_.access({.value = first ? rt() : rd(),
                   .base = rn(),
                   .offset = first ? at : at + 4,
                   .load = load});
    };
    word(!first_is_base);
    word(first_is_base);
    if (!before) {
      out_.set(rn(), rn(), offset);
    }
  }

  void exclusive(bool load) {
    if (is(word_, 0xfff0ffe0, 0xe8d0f000)) {  // tbb, tbh
      out_.clobber(kPc);
    } else if (load) {
      out_.clobber(rt());
      if (bit(word_, 23) && bits(word_, 4, 4) == 7) {
        out_.clobber(rd());
      }
    } else if (!bit(word_, 23)) {
      out_.clobber(rd());  // strex
    } else if (rm() != kPc) {
      out_.clobber(rm());
    }
  }

  // Operations with a register that may be shifted.
  void shifted() {
    const std::uint32_t operation = bits(word_, 21, 4);
    const bool plain = (word_ & 0x70f0U) == 0;
    if (rd() == kPc) {
      return;  // a comparison
    }
    if (plain && operation == 2 && rn() == kPc) {
      out_.set(rd(), rm());
    } else if (plain && (operation == 8 || operation == 13)) {
      out_.sum(rd(), rn(), rm(), operation == 13);
    } else {
      out_.clobber(rd());
    }
  }

  void immediate() {
    const std::uint32_t operation = bits(word_, 21, 4);
    const std::uint32_t value = expanded_constant(constant_field(word_));
    if (rd() == kPc) {
      return;  // a comparison
    }
    if (operation == 8 || operation == 13) {
      out_.set(rd(), rn(), operation == 8 ? distance(value) : -distance(value));
    } else if (operation == 2 && rn() == kPc) {
      out_.constant(rd(), value);
    } else if (operation == 3 && rn() == kPc) {
      out_.constant(rd(), ~value);
    } else {
      out_.clobber(rd());
    }
  }

  // addw, subw, movw, movt, bit fields, saturation.
  void plain_immediate() {
    const std::uint32_t value = constant_field(word_);
    const std::uint32_t half = bits(word_, 16, 4) << 12U | value;
    switch (bits(word_, 20, 5)) {
      case 0x00:
        return out_.set(rd(), rn(), value);
      case 0x0a:
        return out_.set(rd(), rn(), -std::int64_t{value});
      case 0x04:
        return out_.constant(rd(), half);
      case 0x0c:
        return out_.set(rd(), rd(), distance(half << 16U));
      default:
        return out_.clobber(rd());
    }
  }

  bool branches() {
    const std::uint32_t sign = bits(word_, 26, 1);
    const std::uint32_t i1 = 1U ^ bits(word_, 13, 1) ^ sign;
    const std::uint32_t i2 = 1U ^ bits(word_, 11, 1) ^ sign;
    const std::int64_t far = sign_extended(
        sign << 24U | i1 << 23U | i2 << 22U | bits(word_, 16, 10) << 12U | bits(word_, 0, 11) << 1U,
        25);
    const Address behind = address_ + 4;
    if (bit(word_, 14)) {
      const bool to_a32 = !bit(word_, 12);
      out_.call(wrapped((to_a32 ? behind & ~Address{3} : behind) + static_cast<Address>(far)));
    } else if (bit(word_, 12)) {
      out_.jump(Flow::jump, behind + static_cast<Address>(far));
    } else if (bits(word_, 23, 3) != 7) {
      const std::int64_t near =
          sign_extended(sign << 20U | bits(word_, 11, 1) << 19U | bits(word_, 13, 1) << 18U |
                            bits(word_, 16, 6) << 12U | bits(word_, 0, 11) << 1U,
                        21);
      out_.jump(Flow::branch, behind + static_cast<Address>(near));
    } else {
      return control();
    }
    return true;
  }

  // Hints, barriers, status registers, and what ends.
  bool control() {
    if (is(word_, 0xffe0d000, 0xf3e08000)) {
      out_.clobber(rd());  // mrs
    } else if (is(word_, 0xfff0f000, 0xf7f0a000) || is(word_, 0xffff0000, 0xf3de0000)) {
      out_.stop();  // udf; subs pc, lr
    }
    return bits(word_, 20, 7) >= 0x38;
  }

  void others() {
    if (!bit(word_, 25)) {
      single();
    } else if (is(word_, 0xff800000, 0xfb800000)) {
      out_.clobber(rd());
      if (rt() != kPc) {
        out_.clobber(rt());  // the lower half of a long product
      }
    } else {
      out_.clobber(rd());  // shifts, extensions, parallel sums, products
    }
  }

  void single() {
    const bool load = bit(word_, 20);
    const bool whole = bits(word_, 21, 2) == 2;
    if (bit(word_, 24) && !load) {
      out_.elements(word_);
      return;
    }
    if (rn() == kPc && load) {
      const auto amount = std::int64_t{bits(word_, 0, 12)};
      out_.load_literal(rt(), bit(word_, 23) ? amount : -amount, true, whole);
    } else if (bit(word_, 23)) {
      access(bits(word_, 0, 12), load, whole, true, false);
    } else if (bit(word_, 11)) {
      const auto amount = std::int64_t{bits(word_, 0, 8)};
      access(bit(word_, 9) ? amount : -amount, load, whole, bit(word_, 10), bit(word_, 8));
    } else if (load && (whole || rt() != kPc)) {
      out_.clobber(rt());
    }
  }

  void access(std::int64_t offset, bool load, bool whole, bool before, bool back) {
    out_.access({.value = rt(),
                 .base = rn(),
                 .offset = offset,
                 .load = load,
                 .whole = whole,
                 .before = before,
                 .writes_back = back});
  }

  std::uint32_t word_;
  Address address_;
  Effects& out_;
};

}  // namespace

bool read_wide(std::uint32_t word, Address address, Effects& out) {
  return Reader(word, address, out).read();
}

}  // namespace whocall::arm
