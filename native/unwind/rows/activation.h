// One point in the execution of one frame: a program counter and the registers that belong to it.
#pragma once

#include "arch/architecture.h"
#include "base/address.h"

namespace whocall {

// The address to look things up with for a pc: for a caller it lies inside the call instruction,
// because the return address may already belong to the next function (after a noreturn call). This
// is the only place where the one is subtracted.
constexpr Address lookup_address(Address pc, bool interrupted) {
  return interrupted || pc == 0 ? pc : pc - 1;
}

struct Activation {
  Address pc = 0;  // runtime address, without mode or signature bits
  Registers registers;
  // The pc is the instruction that runs next (innermost frame, or interrupted by a signal). Else it
  // is a return address: the instruction after the call.
  bool interrupted = false;

  [[nodiscard]] Address lookup_pc() const { return lookup_address(pc, interrupted); }
};

// A stack word that holds what the caller had in a register.
struct SavedWord {
  Register number = 0;  // the pc's for the return address
  Address address = 0;
};

}  // namespace whocall
