// Effects as instructions of either width have them.
#pragma once

#include "arch/riscv/frame_facts.h"
#include "arch/zero_register.h"

namespace whocall::riscv {

class Effects : public ZeroRegisterEffects {
 public:
  using ZeroRegisterEffects::ZeroRegisterEffects;

  // to = from + amount in 32 bits, which are extended: what compilers count on without knowing the
  // register is a part of a constant.
  void set_word(Register to, Register from, std::int64_t amount);

  // A call, a return or a jump by a register, by where it keeps and where it takes its address.
  void jump_by_register(Register link, Register to, std::int64_t offset);
  // A call or a jump to `target`.
  void jump_to(Register link, Address target);

 private:
  void call(Register link);
};

}  // namespace whocall::riscv
