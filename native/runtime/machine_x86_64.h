// x86-64: the System V ABI; <asm/sigcontext.h> of Linux.
#pragma once

#include <elf.h>
#include <ucontext.h>

#include "rules/cfi_rule.h"

namespace whocall::runtime {

using Point = rules::FramePoint;

inline constexpr std::uint16_t kElfMachine = EM_X86_64;
inline constexpr rules::FrameRegisters kRegisters{.sp = 7, .fp = 6};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{0};
// A frame pointer leads to the caller's, the return address, and the end of the frame.
inline constexpr rules::FrameRule kChain{.cfa = rules::FrameRule::Cfa::from_fp,
                                         .ret = rules::FrameRule::Return::stored,
                                         .fp = rules::FrameRule::Fp::stored,
                                         .cfa_offset = 16,
                                         .return_slot = -8,
                                         .fp_slot = -16};

[[gnu::always_inline]] inline Point here() {
  Point at;
  asm volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
               : "=&r"(at.pc), "=&r"(at.sp), "=&r"(at.fp));
  return at;
}

inline Point point_of(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.gregs;
  Point at;
  at.pc = static_cast<std::uintptr_t>(registers[REG_RIP]);
  at.sp = static_cast<std::uintptr_t>(registers[REG_RSP]);
  at.fp = static_cast<std::uintptr_t>(registers[REG_RBP]);
  return at;
}

// In the order of DWARF's numbers.
inline constexpr const char* kRegisterNames[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                                 "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                 "r12", "r13", "r14", "r15", "rip"};

inline std::uint64_t register_of(const ucontext_t& context, std::size_t number) {
  constexpr int kPlaces[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                             REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                             REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[kPlaces[number]]);
}

// Where the trampoline behind a handler finds the context: at its stack pointer.
inline std::uintptr_t context_offset(std::uintptr_t /*trampoline*/) { return 0; }  // bytes

// C libraries bring trampolines of their own, with unwind tables that say what they are.
inline constexpr std::size_t kTrampolineSize = 0;  // bytes

inline bool is_trampoline(const void* /*code*/) { return false; }

}  // namespace whocall::runtime
