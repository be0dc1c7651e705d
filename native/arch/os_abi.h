// What the kernel and the C library show of a process of this instruction set: saved registers,
// signal frames, beginnings of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "arch/registers.h"

namespace whocall {

// Where one register lies in a block of saved registers, in bytes from the block's start.
struct SavedRegister {
  Register number = 0;
  std::uint32_t offset = 0;
  std::uint8_t size = 8;
};

// The layout of the kernel's struct elf_prstatus (NT_PRSTATUS) on this instruction set.
struct PrstatusLayout {
  std::uint32_t size = 0;            // of the whole note, bytes
  std::uint32_t signal_offset = 12;  // pr_cursig, 16 bits
  std::uint32_t lwp_offset = 0;      // pr_pid, 32 bits
  std::uint32_t registers_offset = 0;
  std::uint32_t registers_size = 0;            // of pr_reg: what PTRACE_GETREGSET gives as well
  std::span<const SavedRegister> registers{};  // offsets count from pr_reg
};

// A place in the saved registers whose content the kernel leaves no choice: flags, segments.
struct ContextMark {
  std::uint32_t offset = 0;  // bytes from the context
  std::uint8_t size = 0;     // bytes
  std::uint64_t mask = 0;    // the bits that are always the same
  std::uint64_t value = 0;   // and what they are
};

// What the kernel left on the stack when it called a signal handler, as seen from the trampoline
// that the handler returns to: the trampoline's code, and where the interrupted registers lie.
struct SignalTrampoline {
  std::string_view name;                       // for -explain
  std::span<const std::uint8_t> code;          // the instructions, from the trampoline's start
  std::int32_t context_offset = 0;             // bytes from sp to the context
  bool context_is_pointer = false;             // the word there is the context's address
  std::span<const SavedRegister> registers{};  // offsets count from the context
  std::span<const ContextMark> marks{};        // empty: nothing can be checked
};

// How a new thread begins, in the function that asks the kernel for it: the code of the system call
// that makes it, and of the one that ends it, behind the call of the thread's own function.
struct ThreadStart {
  std::span<const std::uint8_t> make;
  std::span<const std::uint8_t> end;
};

// The note of a core that tells which bits of a code pointer hold its signature.
struct SignatureNote {
  std::uint32_t type = 0;    // of the owner "LINUX"; 0: there is none
  std::uint32_t offset = 0;  // of the mask, 64 bits
};

// The note of a core that tells where a thread's own data lie, where no register does: a row for
// each segment that the thread has. The C library takes the first.
struct ThreadAreaNote {
  std::uint32_t type = 0;      // of the owner "LINUX"; 0: there is none
  std::uint32_t row_size = 0;  // bytes
  std::uint32_t address_offset = 0;
};

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

struct OsAbi {
  PrstatusLayout prstatus{};
  SignatureNote signatures{};
  ThreadAreaNote thread_areas{};
  std::optional<KeptJump> kept_jump{};  // a miss where it is not known
  std::span<const SignalTrampoline> signal_trampolines{};
  std::span<const ThreadStart> thread_starts{};
};

}  // namespace whocall
