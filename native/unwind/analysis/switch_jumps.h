// The indirect jumps of one function, whose targets are code that no path is seen to lead to.
#pragma once

#include <optional>

#include "arch/architecture.h"
#include "unwind/analysis/abstract_state.h"

namespace whocall {

// Any of the targets may be that of any of the jumps: what is known there is what all of them agree
// on.
class SwitchJumps {
 public:
  explicit SwitchJumps(const Architecture& arch) : called_(arch), sp_(arch.registers.sp) {}

  void clear();
  // What is known at one more jump, or at one that was added before and now knows less; `computed`:
  // its target was just computed. True when that changes what is known at the targets.
  bool add(const AbstractState& state, bool computed);

  [[nodiscard]] bool empty() const { return !switches_.joined && !leaving_.joined; }
  // What is known at the targets; there must be a jump.
  [[nodiscard]] const AbstractState& at_targets() const { return *joined().joined; }
  // Whether there are some, and they know one and the same depth.
  [[nodiscard]] bool agree() const;

 private:
  struct Join {
    std::optional<AbstractState> joined{};
    bool agree = true;
  };
  // Folklore. Situation: a function that switches also ends in indirect tail calls. Example: a
  // method of C++ that jumps to another by way of the vtable. Remedy: a jump with the stack as a
  // caller left it is a switch only where no other jump can be, or where its target is a sum: tail
  // calls take theirs from memory.
  [[nodiscard]] const Join& joined() const { return switches_.joined ? switches_ : leaving_; }

  AbstractState called_;
  Register sp_;
  Join switches_;
  Join leaving_;
};

}  // namespace whocall
