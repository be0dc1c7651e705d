// How programs of an instruction set call the kernel, what the kernel shows of a thread that waits
// in a call, and where C libraries keep what the kernel calls a thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "arch/architecture.h"

namespace whocall {

// What a C library knows of a thread, in bytes from the thread pointer.
struct ThreadDescriptor {
  std::uint32_t self = 0;          // a word that holds the thread pointer
  std::uint32_t tid = 0;           // the kernel's id of the thread, 32 bits; 0: not known
  std::uint32_t detach_state = 0;  // musl's: what pthread_join waits at
};

struct SystemCallAbi {
  std::string_view names{};  // by number, as system_call_name() reads them
  std::uint64_t mark = 0;    // a bit of every number, which tells the ABI (x32)
  Register number = 0;       // holds the number before the call
  Register result = 0;       // and this one the result behind it, minus errno for an error
  std::span<const Register> arguments{};
  // Where the kernel keeps the number while the result takes its register's place: in bytes from
  // pr_reg, as gdb calls it, and under which number of nobody's Registers have it. Less than 0 (a
  // number has 32 bits): the kernel was entered by no call. Size 0: it keeps none.
  std::uint32_t kept_offset = 0;
  std::uint8_t kept_size = 0;
  std::string_view kept_name{};
  Register kept = 0;
  // Whether debuggers see a call that was interrupted as one that is to be made again: the pc
  // stands at its instruction, and all registers are as they were.
  bool set_back = false;

  ThreadDescriptor glibc{};
  ThreadDescriptor musl{};
};

// Null where nothing is known of it.
const SystemCallAbi* system_call_abi(const Architecture& arch);

}  // namespace whocall
