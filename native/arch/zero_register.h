// Effects where a register is always 0 (RISC-V, LoongArch: the first): what goes into it is lost,
// and what comes out of it is 0.
#pragma once

#include "arch/instruction.h"

namespace whocall {

class ZeroRegisterEffects {
 public:
  static constexpr Register kZeroRegister = 0;

  explicit ZeroRegisterEffects(Instruction& out) : out_(out) {}

  void constant(Register to, std::int64_t value) { put({Effect::Kind::constant, to, 0, value}); }
  void clobber(Register to) { put({Effect::Kind::clobber, to}); }
  // to = from + amount
  void set(Register to, Register from, std::int64_t amount);
  // to = left + right, or left - right
  void add(Register to, Register left, Register right);
  void subtract(Register to, Register left, Register right);
  void load(Register to, Register base, std::int64_t offset);
  void store(Register base, std::int64_t offset, Register what);
  void store_other(Register base, std::int64_t offset);

 protected:
  [[nodiscard]] Instruction& out() { return out_; }

 private:
  void put(const Effect& effect) {
    if (effect.destination != kZeroRegister) {
      out_.add(effect);
    }
  }

  Instruction& out_;
};

}  // namespace whocall
