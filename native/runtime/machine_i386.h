// i386: the System V ABI; <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>
#include <csignal>
#include <cstddef>
#include <span>
#include <string_view>

#include "arch/x86/frame_facts.h"
#include "rules/cfi_rule.h"
#include "runtime/machine_x86.h"

namespace whocall::runtime {

using Point = rules::FramePoint;

inline constexpr std::uint16_t kElfMachine = x86::bits32::kElfMachine;
inline constexpr rules::FrameRegisters kRegisters{.sp = x86::bits32::kSp, .fp = x86::bits32::kFp};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{0};
// A frame pointer leads to the caller's, the return address, and the end of the frame.
inline constexpr rules::FrameRule kChain{.cfa = rules::FrameRule::Cfa::from_fp,
                                         .ret = rules::FrameRule::Return::stored,
                                         .fp = rules::FrameRule::Fp::stored,
                                         .cfa_offset = x86::bits32::kChain.cfa_above_fp,
                                         .return_slot = x86::bits32::kChain.return_slot,
                                         .fp_slot = x86::bits32::kChain.fp_slot};

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

inline constexpr std::span<const std::string_view> kRegisterNames{x86::bits32::kNames.data(),
                                                                  x86::bits32::kPc + 1};

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
