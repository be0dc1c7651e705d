// Effects as instructions of either width have them: what goes into x0 is lost, and what comes out
// of it is 0.
#pragma once

#include "arch/instruction.h"
#include "arch/riscv/frame_facts.h"

namespace whocall::riscv {

class Effects {
 public:
  explicit Effects(Instruction& out) : out_(out) {}

  void constant(Register to, std::int64_t value) { put({Effect::Kind::constant, to, 0, value}); }
  void clobber(Register to) { put({Effect::Kind::clobber, to}); }
  // to = from + amount
  void set(Register to, Register from, std::int64_t amount);
  // The same in 32 bits, which are extended: what compilers count on without knowing the register
  // is a part of a constant.
  void set_word(Register to, Register from, std::int64_t amount);
  // to = left + right, or left - right
  void add(Register to, Register left, Register right);
  void subtract(Register to, Register left, Register right);
  void load(Register to, Register base, std::int64_t offset);
  void store(Register base, std::int64_t offset, Register what);
  void store_other(Register base, std::int64_t offset);

  // A call, a return or a jump by a register, by where it keeps and where it takes its address.
  void jump_by_register(Register link, Register to, std::int64_t offset);
  // A call or a jump to `target`.
  void jump_to(Register link, Address target);

 private:
  void put(const Effect& effect) {
    if (effect.destination != kZero) {
      out_.add(effect);
    }
  }
  void call(Register link);

  Instruction& out_;
};

}  // namespace whocall::riscv
