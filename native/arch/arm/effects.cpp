#include "arch/arm/fields.h"

namespace whocall::arm {

void Effects::load(Register to, Register base, std::int64_t offset, bool pops) {
  if (to != kPc) {
    out_.add({Kind::load, to, base, offset});
    return;
  }
  out_.returns = pops;
  out_.flow = pops ? Flow::stop : Flow::indirect_jump;
}

void Effects::store(Register base, Register from, std::int64_t offset, bool whole) {
  if (whole && from != kPc) {
    out_.add({Kind::store, base, from, offset});
  } else {
    out_.add({Kind::store_other, base, 0, offset});
  }
}

void Effects::access(const Access& access) {
  if (access.before && access.writes_back) {
    set(access.base, access.base, access.offset);
  }
  const std::int64_t at = access.before && !access.writes_back ? access.offset : 0;
  if (!access.load) {
    store(access.base, access.value, at, access.whole);
  } else if (access.whole) {
    load(access.value, access.base, at, access.base == kSp && access.writes_back);
  } else if (access.value != kPc) {  // there it is a hint to fetch memory
    clobber(access.value);
  }
  if (!access.before) {
    set(access.base, access.base, access.offset);
  }
}

void Effects::load_literal(Register to, std::int64_t offset, bool thumb, bool whole) {
  const Address at = data_base(address_, thumb) + static_cast<Address>(offset);
  const auto word = at >= address_ ? word_at(code_, at - address_) : std::nullopt;
  if (to == kPc) {
    out_.flow = word ? Flow::jump : Flow::indirect_jump;
    out_.target = word ? std::optional<Address>(*word & ~1U) : std::nullopt;
    if (!whole) {
      out_.flow = Flow::next;
      out_.target.reset();
    }
  } else if (whole && word) {
    constant(to, *word);
  } else {
    clobber(to);
  }
}

// The words lie in the order of the registers' numbers, the lowest at the lowest address.
void Effects::many(const Many& many) {
  const auto size = static_cast<std::int64_t>(std::popcount(many.list)) * 4;
  const std::int64_t first = many.up ? (many.before ? 4 : 0) : -size + (many.before ? 0 : 4);
  const std::int64_t moved = many.up ? size : -size;
  const bool moves = many.writes_back && !(many.load && bit(many.list, many.base));
  // What is pushed lies behind the stack pointer only when that has moved.
  const bool pushes = !many.load && moves && !many.up;
  if (pushes) {
    set(many.base, many.base, moved);
  }
  std::int64_t at = pushes ? first - moved : first;
  std::optional<std::int64_t> of_base;
  for (Register each = 0; each <= kPc; ++each) {
    if (!bit(many.list, each)) {
      continue;
    }
    if (!many.load) {
      if (each >= 4 && each != kScratch) {
        store(many.base, each, at, true);
      } else if (!pushes) {
        store(many.base, each, at, false);
      }
    } else if (each == many.base) {
      of_base = at;  // last, as the others are found by it
    } else if (each >= 4 && each != kScratch) {
      load(each, many.base, at, true);
    } else {
      clobber(each);
    }
    at += 4;
  }
  if (of_base) {
    load(many.base, many.base, *of_base, false);
  } else if (moves && !pushes) {
    set(many.base, many.base, moved);
  }
}

void Effects::coprocessor(std::uint32_t word) {
  if (is(word, 0x0fe00000, 0x0c400000)) {  // two words to or from a pair of vector registers
    if (bit(word, 20)) {
      clobber(number(word, 12));
      clobber(number(word, 16));
    }
  } else if (is(word, 0x0e000000, 0x0c000000)) {  // vpush, vpop, vldr, vstr, ldc, stc
    const std::int64_t size = std::int64_t{bits(word, 0, 8)} * 4;
    const Register base = number(word, 16);
    if (bit(word, 21) && base != kPc) {
      set(base, base, bit(word, 23) ? size : -size);
    }
    if (!bit(word, 20) && !bit(word, 21) && base != kPc) {
      out_.add({Kind::store_other, base, 0, bit(word, 23) ? size : -size});
    }
  } else if (is(word, 0x0f100010, 0x0e100010) && number(word, 12) != kPc) {
    clobber(number(word, 12));  // mrc, vmov
  }
}

void Effects::elements(std::uint32_t word) {
  const Register base = number(word, 16);
  const Register index = number(word, 0);
  if (index != kPc && base != kPc) {
    clobber(base);
  }
}

}  // namespace whocall::arm
