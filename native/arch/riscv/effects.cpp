#include "arch/riscv/effects.h"

namespace whocall::riscv {

using Flow = Instruction::Flow;
using Kind = Effect::Kind;

void Effects::set(Register to, Register from, std::int64_t amount) {
  if (from == kZero) {
    constant(to, amount);
  } else {
    put({Kind::set, to, from, amount});
  }
}

void Effects::set_word(Register to, Register from, std::int64_t amount) {
  if (from == kZero || (from == to && amount != 0)) {
    set(to, from, amount);
  } else {
    clobber(to);
  }
}

void Effects::add(Register to, Register left, Register right) {
  if (left == kZero || right == kZero) {
    set(to, left == kZero ? right : left, 0);
  } else {
    put({Kind::add, to, left, 0, right, 1});
  }
}

void Effects::subtract(Register to, Register left, Register right) {
  if (right == kZero) {
    set(to, left, 0);
  } else if (left == kZero) {
    clobber(to);
  } else {
    put({Kind::subtract, to, left, 0, right, 1});
  }
}

void Effects::load(Register to, Register base, std::int64_t offset) {
  if (base == kZero) {
    clobber(to);
  } else {
    put({Kind::load, to, base, offset});
  }
}

void Effects::store(Register base, std::int64_t offset, Register what) {
  if (what == kZero) {
    store_other(base, offset);
  } else if (base != kZero) {
    out_.add({Kind::store, base, what, offset});
  }
}

void Effects::store_other(Register base, std::int64_t offset) {
  if (base != kZero) {
    out_.add({Kind::store_other, base, 0, offset});
  }
}

void Effects::jump_by_register(Register link, Register to, std::int64_t offset) {
  if (link == kRa || link == kT0) {
    call(link);
  } else if (link == kZero && to == kRa && offset == 0) {
    out_.flow = Flow::stop;
    out_.returns = true;
  } else {
    clobber(link);  // a slot of a linkage table leaves its own address to the first one
    out_.flow = Flow::indirect_jump;
  }
}

void Effects::jump_to(Register link, Address target) {
  if (link == kRa || link == kT0) {
    call(link);
  } else {
    clobber(link);
    out_.flow = Flow::jump;
  }
  out_.target = target;
}

// Folklore. Situation: a function begins by a call of another that saves registers for it and
// lowers the stack pointer (-msave-restore). Example: jal t0,__riscv_save_4. Remedy: the second
// link register tells such a call; the stack pointer is not known behind it, unless the routine can
// be read (read_save_routine).
void Effects::call(Register link) {
  out_.flow = Flow::call;
  if (link == kT0) {
    clobber(kSp);
  }
}

}  // namespace whocall::riscv
