#include "arch/riscv/effects.h"

namespace whocall::riscv {

using Flow = Instruction::Flow;

void Effects::set_word(Register to, Register from, std::int64_t amount) {
  if (from == kZero || (from == to && amount != 0)) {
    set(to, from, amount);
  } else {
    clobber(to);
  }
}

void Effects::jump_by_register(Register link, Register to, std::int64_t offset) {
  if (link == kRa || link == kT0) {
    call(link);
  } else if (link == kZero && to == kRa && offset == 0) {
    out().flow = Flow::stop;
    out().returns = true;
  } else {
    clobber(link);  // a slot of a linkage table leaves its own address to the first one
    out().flow = Flow::indirect_jump;
  }
}

void Effects::jump_to(Register link, Address target) {
  if (link == kRa || link == kT0) {
    call(link);
  } else {
    clobber(link);
    out().flow = Flow::jump;
  }
  out().target = target;
}

// Folklore. Situation: a function begins by a call of another that saves registers for it and
// lowers the stack pointer (-msave-restore). Example: jal t0,__riscv_save_4. Remedy: the second
// link register tells such a call; the stack pointer is not known behind it, unless the routine can
// be read (read_save_routine).
void Effects::call(Register link) {
  out().flow = Flow::call;
  if (link == kT0) {
    clobber(kSp);
  }
}

}  // namespace whocall::riscv
