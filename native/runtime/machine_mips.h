// MIPS, o32, n32 and n64: <asm/sigcontext.h> of Linux.
#pragma once

#include <elf.h>
#include <ucontext.h>
#include <csignal>
#include <cstddef>

#include <cstring>

#include "rules/cfi_rule.h"

namespace whocall::runtime {

using Point = rules::FramePoint;

inline constexpr std::uint16_t kElfMachine = EM_MIPS;
inline constexpr rules::FrameRegisters kRegisters{.sp = 29, .fp = 30, .link = 31};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{0};
// Frame pointers form no chain: what a function stores lies where it likes.
inline constexpr rules::FrameRule kChain{};

[[gnu::always_inline]] inline Point here() {
  Point at;
  // A branch over its delay slot leaves the address behind it, and the register is said to change.
  asm volatile(
      ".set push\n\t.set noreorder\n\tbal 1f\n\tnop\n1:\tmove %0, $31\n\tmove %1, $29\n\t"
      "move %2, $30\n\t.set pop"
      : "=&r"(at.pc), "=&r"(at.sp), "=&r"(at.fp)
      :
      : "$31");
  return at;
}

inline Point point_of(const ucontext_t& context) {
  const mcontext_t& registers = context.uc_mcontext;
  Point at;
  at.pc = static_cast<std::uintptr_t>(registers.pc);
  at.sp = static_cast<std::uintptr_t>(registers.gregs[29]);
  at.fp = static_cast<std::uintptr_t>(registers.gregs[30]);
  at.link = static_cast<std::uintptr_t>(registers.gregs[31]);
  at.link_known = true;
  return at;
}

inline constexpr const char* kRegisterNames[] = {
    "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2",
    "t3",   "t4", "t5", "t6", "t7", "s0", "s1", "s2", "s3", "s4", "s5",
    "s6",   "s7", "t8", "t9", "k0", "k1", "gp", "sp", "s8", "ra", "pc"};

inline std::uint64_t register_of(const ucontext_t& context, std::size_t number) {
  const mcontext_t& registers = context.uc_mcontext;
  return static_cast<std::uintptr_t>(number < 32 ? registers.gregs[number] : registers.pc);
}

// li v0, __NR_rt_sigreturn or __NR_sigreturn; syscall: on the stack, or in the kernel's page.
inline constexpr std::size_t kTrampolineSize = 8;  // bytes

inline bool is_old_trampoline(const void* code) {
  std::uint32_t first = 0;
  std::memcpy(&first, code, sizeof first);
  return first == 0x24021017;
}

inline bool is_trampoline(const void* code) {
  std::uint32_t words[2];
  std::memcpy(words, code, sizeof words);
  const std::uint32_t call = words[0];
  return words[1] == 0x0000000c && (call == 0x24021061 || call == 0x2402145b ||
                                    call == 0x24021843 || is_old_trampoline(code));
}

// Behind a handler: four words of arguments and two more, then siginfo and context; or with an old
// trampoline what the context has of registers.
inline std::uintptr_t context_offset(std::uintptr_t trampoline) {
  constexpr std::uintptr_t kBefore = 24;  // bytes
  return is_old_trampoline(reinterpret_cast<const void*>(trampoline))
             ? kBefore - offsetof(ucontext_t, uc_mcontext)
             : kBefore + sizeof(siginfo_t);
}

}  // namespace whocall::runtime
