// The way back out of a function where calls leave the return address in a register, from what the
// decoder tells of each instruction.
#pragma once

#include <optional>
#include <span>

#include "arch/instruction.h"
#include "arch/return_path.h"

namespace whocall {

struct LinkedReturn {
  Register sp = 0;
  Register fp = 0;
  Register link = 0;
  Register goroutine = 0;          // Go's own
  std::span<const Register> kept;  // what calls leave as it was, sp and fp among them
  Register registers = 0;          // how many there are to follow, from 0 on

  // Runs the instructions from offset `at` of `code`, the bytes of one function that begins at
  // `address`, over unknown registers until it returns. A miss where it does not return in sight,
  // where its ways part and come back to different places, or where it does to sp what is not
  // followed.
  std::optional<ReturnPath> path(InstructionDecoder& decoder, ByteView code, Address address,
                                 std::uint64_t at) const;
};

}  // namespace whocall
