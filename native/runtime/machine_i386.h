// i386: the System V ABI; <asm/sigcontext.h> of Linux.
#pragma once

#include <elf.h>
#include <ucontext.h>
#include <csignal>
#include <cstddef>

#include "rules/cfi_rule.h"

namespace whocall::runtime {

using Point = rules::FramePoint;

inline constexpr std::uint16_t kElfMachine = EM_386;
inline constexpr rules::FrameRegisters kRegisters{.sp = 4, .fp = 5};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{0};
// A frame pointer leads to the caller's, the return address, and the end of the frame.
inline constexpr rules::FrameRule kChain{.cfa = rules::FrameRule::Cfa::from_fp,
                                         .ret = rules::FrameRule::Return::stored,
                                         .fp = rules::FrameRule::Fp::stored,
                                         .cfa_offset = 8,
                                         .return_slot = -4,
                                         .fp_slot = -8};

[[gnu::always_inline]] inline Point here() {
  Point at;
  asm volatile("call 1f\n1:\tpop %0\n\tmov %%esp, %1\n\tmov %%ebp, %2"
               : "=&r"(at.pc), "=&r"(at.sp), "=&r"(at.fp));
  return at;
}

inline Point point_of(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.gregs;
  Point at;
  at.pc = static_cast<std::uintptr_t>(registers[REG_EIP]);
  at.sp = static_cast<std::uintptr_t>(registers[REG_ESP]);
  at.fp = static_cast<std::uintptr_t>(registers[REG_EBP]);
  return at;
}

// In the order of DWARF's numbers.
inline constexpr const char* kRegisterNames[] = {"eax", "ecx", "edx", "ebx", "esp",
                                                 "ebp", "esi", "edi", "eip"};

inline std::uint64_t register_of(const ucontext_t& context, std::size_t number) {
  constexpr int kPlaces[] = {REG_EAX, REG_ECX, REG_EDX, REG_EBX, REG_ESP,
                             REG_EBP, REG_ESI, REG_EDI, REG_EIP};
  return static_cast<std::uint32_t>(context.uc_mcontext.gregs[kPlaces[number]]);
}

// Behind a handler with SA_SIGINFO: the signal, the addresses of siginfo and context, then both.
// Behind one without: the signal, then what the context has of registers; the trampoline begins
// with pop %eax.
inline std::uintptr_t context_offset(std::uintptr_t trampoline) {
  constexpr std::uintptr_t kSignal = 4;  // bytes
  const bool old = *reinterpret_cast<const unsigned char*>(trampoline) == 0x58;
  return old ? kSignal - offsetof(ucontext_t, uc_mcontext) : kSignal + 8 + sizeof(siginfo_t);
}

// C libraries and the kernel's vDSO bring trampolines with unwind tables that say what they are.
inline constexpr std::size_t kTrampolineSize = 0;  // bytes

inline bool is_trampoline(const void* /*code*/) { return false; }

}  // namespace whocall::runtime
