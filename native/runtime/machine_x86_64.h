// x86-64: the System V ABI; <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>

#include <array>

#include "rules/cfi_rule.h"

namespace whocall::runtime {

inline constexpr rules::FrameRegisters kRegisters{.sp = 7, .fp = 6};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{0};
// A frame pointer leads to the caller's, the return address, and the end of the frame.
inline constexpr std::int32_t kChainFrame = 16;  // bytes; 0: frame pointers form no chain

[[gnu::always_inline]] inline rules::FramePoint here() {
  rules::FramePoint at;
  asm volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
               : "=&r"(at.pc), "=&r"(at.sp), "=&r"(at.fp));
  return at;
}

inline rules::FramePoint point_of(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.gregs;
  rules::FramePoint at;
  at.pc = static_cast<std::uintptr_t>(registers[REG_RIP]);
  at.sp = static_cast<std::uintptr_t>(registers[REG_RSP]);
  at.fp = static_cast<std::uintptr_t>(registers[REG_RBP]);
  return at;
}

// Where the trampoline behind a handler finds the context: at its stack pointer.
inline std::uintptr_t context_offset(std::uintptr_t /*trampoline*/) { return 0; }  // bytes

// C libraries bring trampolines of their own, with unwind tables that say what they are.
inline constexpr std::array<unsigned char, 0> kTrampoline{};

}  // namespace whocall::runtime
