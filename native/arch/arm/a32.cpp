// A32: one word an instruction. The Arm Architecture Reference Manual for A-profile, F4 "A32
// instruction set encoding".
#include "arch/arm/fields.h"

namespace whocall::arm {
namespace {

using Flow = Instruction::Flow;

constexpr bool is_compare(std::uint32_t word) { return is(word, 0x01900000, 0x01100000); }

class Reader {
 public:
  Reader(std::uint32_t word, Address address, Effects& out)
      : word_(word), address_(address), out_(out) {}

  bool read() {
    if (bits(word_, 28, 4) == 0xf) {
      return unconditional();
    }
    switch (bits(word_, 25, 3)) {
      case 0:
        registers();
        return true;
      case 1:
        immediates();
        return true;
      case 2:
        single(offset_of(bits(word_, 0, 12)));
        return true;
      case 3:
        if (bit(word_, 4)) {
          media();
        } else {
          indexed();
        }
        return true;
      case 4:
        out_.many({.base = rn(),
                   .list = bits(word_, 0, 16),
                   .load = bit(word_, 20),
                   .up = bit(word_, 23),
                   .before = bit(word_, 24),
                   .writes_back = bit(word_, 21)});
        return true;
      case 5:
        branch();
        return true;
      case 6:
        out_.coprocessor(word_);
        return true;
      default:
        if (bit(word_, 24)) {
          out_.system_call();
        } else {
          out_.coprocessor(word_);
        }
        return true;
    }
  }

 private:
  [[nodiscard]] Register rd() const { return number(word_, 12); }
  [[nodiscard]] Register rn() const { return number(word_, 16); }
  [[nodiscard]] Register rm() const { return number(word_, 0); }
  [[nodiscard]] std::int64_t offset_of(std::uint32_t amount) const {
    return bit(word_, 23) ? std::int64_t{amount} : -std::int64_t{amount};
  }

  // blx to T32; hints to fetch memory; vectors. The rest is for systems.
  bool unconditional() {
    if (is(word_, 0xfe000000, 0xfa000000)) {
      const std::int64_t to = sign_extended(bits(word_, 0, 24), 24) * 4 + (bit(word_, 24) ? 2 : 0);
      out_.call(wrapped(address_ + 8 + static_cast<Address>(to)));
    } else if (is(word_, 0xff100000, 0xf4000000)) {
      out_.elements(word_);
    } else if (is(word_, 0xfe000000, 0xfc000000)) {
      out_.coprocessor(word_);
    }
    return !is(word_, 0xfe000000, 0xf8000000);
  }

  void registers() {
    if (bit(word_, 7) && bit(word_, 4)) {
      multiplied_or_small();
    } else if (is(word_, 0x01900000, 0x01000000)) {
      miscellaneous();
    } else {
      data(bits(word_, 4, 8) == 0);
    }
  }

  // Multiplications, exclusive accesses, and those of bytes, half words and pairs of words.
  void multiplied_or_small() {
    const std::uint32_t kind = bits(word_, 5, 2);
    if (kind == 0) {
      if (!bit(word_, 24)) {
        out_.clobber(rn());
        if (bit(word_, 23)) {
          out_.clobber(rd());  // the lower half of a long product
        }
      } else {
        exclusive();
      }
      return;
    }
    const bool immediate = bit(word_, 22);
    const std::uint32_t amount = bits(word_, 8, 4) << 4U | bits(word_, 0, 4);
    const bool pair = !bit(word_, 20) && kind >= 2;
    const bool load = bit(word_, 20) || kind == 2;
    if (!pair) {
      access(immediate, offset_of(amount), load, false);
    } else {
      pair_of_words(immediate, offset_of(amount), load);
    }
  }

  void exclusive() {
    out_.clobber(rd());
    if (is(word_, 0x01f00000, 0x01b00000) && rd() + 1 != kPc) {
      out_.clobber(rd() + 1);  // ldrexd
    }
  }

  void pair_of_words(bool immediate, std::int64_t offset, bool load) {
    const bool before = bit(word_, 24);
    const bool back = bit(word_, 21) || !before;
    const auto second = static_cast<Register>(rd() + 1);
    if (!immediate) {
      if (load) {
        out_.clobber(rd());
        out_.clobber(second);
      }
      if (back) {
        out_.clobber(rn());
      }
      return;
    }
    if (before && back) {
      out_.set(rn(), rn(), offset);
    }
    const std::int64_t at = before && !back ? offset : 0;
    out_.access({.value = rd(), .base = rn(), .offset = at, .load = load});
    out_.access({.value = second, .base = rn(), .offset = at + 4, .load = load});
    if (!before) {
      out_.set(rn(), rn(), offset);
    }
  }

  void access(bool immediate, std::int64_t offset, bool load, bool whole) {
    const bool before = bit(word_, 24);
    const bool back = bit(word_, 21) || !before;
    if (immediate && rn() == kPc && load) {
      out_.load_literal(rd(), offset, false, whole);
    } else if (immediate) {
      out_.access({.value = rd(),
                   .base = rn(),
                   .offset = offset,
                   .load = load,
                   .whole = whole,
                   .before = before,
                   .writes_back = back});
    } else {
      if (load) {
        out_.clobber(rd());
      }
      if (back) {
        out_.clobber(rn());
      }
    }
  }

  void single(std::int64_t offset) { access(true, offset, bit(word_, 20), !bit(word_, 22)); }
  void indexed() { access(false, 0, bit(word_, 20), !bit(word_, 22)); }

  // bx, blx, clz, mrs, msr, bkpt and others.
  void miscellaneous() {
    const std::uint32_t kind = bits(word_, 4, 4);
    if (kind == 1 && bits(word_, 21, 2) == 1) {
      out_.go_to(rm());
    } else if (kind == 3 && bits(word_, 21, 2) == 1) {
      out_.call(std::nullopt);
    } else if (kind == 7) {
      out_.stop();
    } else if (kind >= 8) {
      out_.clobber(rn());  // products of half words
      if (bits(word_, 21, 2) == 2) {
        out_.clobber(rd());
      }
    } else if (kind == 0 ? !bit(word_, 21) : kind != 2) {
      out_.clobber(rd());
    }
  }

  void immediates() {
    if (is(word_, 0x0ff00000, 0x03000000)) {  // movw
      out_.constant(rd(), bits(word_, 16, 4) << 12U | bits(word_, 0, 12));
    } else if (is(word_, 0x0ff00000, 0x03400000)) {  // movt, behind movw
      out_.set(rd(), rd(), distance((bits(word_, 16, 4) << 12U | bits(word_, 0, 12)) << 16U));
    } else if (is(word_, 0x0fb00000, 0x03200000)) {
      return;  // msr, hints
    } else {
      const std::uint32_t value = turned_constant(word_);
      switch (bits(word_, 21, 4)) {
        case 2:
          return out_.set(rd(), rn(), -distance(value));
        case 4:
          return out_.set(rd(), rn(), distance(value));
        case 13:
          return out_.constant(rd(), value);
        case 15:
          return out_.constant(rd(), ~value);
        default:
          return data(false);
      }
    }
  }

  // `plain`: with a register that is not shifted.
  void data(bool plain) {
    const std::uint32_t operation = bits(word_, 21, 4);
    if (is_compare(word_)) {
      return;
    }
    if (plain && operation == 13) {
      out_.set(rd(), rm());
    } else if (plain && (operation == 2 || operation == 4)) {
      out_.sum(rd(), rn(), rm(), operation == 2);
    } else {
      out_.clobber(rd());
    }
  }

  // Parallel sums, extensions, bit fields, divisions, and what is no instruction on purpose.
  void media() {
    if (is(word_, 0x0ff000f0, 0x07f000f0)) {
      out_.stop();
      return;
    }
    const bool product = is(word_, 0x0f800000, 0x07000000) || is(word_, 0x0f800000, 0x07800000);
    const bool extracts = is(word_, 0x0fa00070, 0x07a00050) || is(word_, 0x0fe00070, 0x07c00010);
    if (product && !extracts) {
      out_.clobber(rn());
      if (is(word_, 0x0ff00000, 0x07400000)) {
        out_.clobber(rd());
      }
    } else {
      out_.clobber(rd());
    }
  }

  void branch() {
    const Address to =
        wrapped(address_ + 8 + static_cast<Address>(sign_extended(bits(word_, 0, 24), 24) * 4));
    if (bit(word_, 24)) {
      out_.call(to);
    } else {
      out_.jump(Flow::jump, to);
    }
  }

  std::uint32_t word_;
  Address address_;
  Effects& out_;
};

}  // namespace

void make_conditional(Instruction& out) {
  for (std::uint8_t i = 0; i < out.effect_count; ++i) {
    Effect& effect = out.effects[i];
    const bool stores = effect.kind == Effect::Kind::store;
    if (stores) {
      effect = {Effect::Kind::store_other, effect.destination, 0, effect.offset};
    } else if (effect.kind != Effect::Kind::store_other) {
      effect = {Effect::Kind::clobber, effect.destination};
    }
  }
  if (out.flow == Flow::jump) {
    out.flow = Flow::branch;
  } else if (out.flow == Flow::stop || out.flow == Flow::indirect_jump) {
    // The switch of a compiler goes on behind itself too, which is one more of its targets.
    out.flow = out.flow == Flow::stop ? Flow::next : Flow::indirect_jump;
    out.returns = false;
    out.effect_count = 0;  // done only by those who leave
  }
}

bool read_a32(ByteView code, Address address, Instruction& out) {
  constexpr std::uint32_t kAlways = 0xe;
  const auto word = word_at(code, 0);
  Effects effects(code, address, out);
  if (!word || !Reader(*word, address, effects).read()) {
    return false;
  }
  if (bits(*word, 28, 4) < kAlways) {
    make_conditional(out);
  }
  out.size = 4;
  out.padding = *word == 0xe320f000 || *word == 0xe1a00000;
  return true;
}

}  // namespace whocall::arm
