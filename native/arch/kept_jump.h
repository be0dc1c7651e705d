// What the C library's setjmp keeps, where code pointers are kept scrambled.
#pragma once

#include <cstdint>

#include "arch/architecture.h"

namespace whocall {

// The buffer in which glibc's start-up code keeps, on the stack of every thread, where to go when
// the thread is cancelled. Two words of it are exclusive-ored with a key that lies beside the
// thread's own data, and rotated to the left.
struct KeptJump {
  std::uint32_t key_offset = 0;  // bytes from the thread pointer
  unsigned rotated = 0;          // bits
  std::uint32_t sp_offset = 0;   // bytes from the buffer
  std::uint32_t pc_offset = 0;
  std::uint32_t size = 0;       // bytes, of all that start-up code has of it
  std::uint32_t alignment = 0;  // bytes, of the buffer and of what holds it
};

// Null where that is not known.
const KeptJump* kept_jump(const Architecture& arch);

}  // namespace whocall
