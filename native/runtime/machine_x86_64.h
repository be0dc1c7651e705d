// x86-64: the System V ABI; <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>
#include <span>
#include <string_view>

#include "arch/x86/frame_facts.h"
#include "rules/cfi_rule.h"
#include "runtime/machine_x86.h"

namespace whocall::runtime {

using Point = rules::FramePoint;

inline constexpr std::uint16_t kElfMachine = x86::bits64::kElfMachine;
inline constexpr rules::FrameRegisters kRegisters{.sp = x86::bits64::kSp, .fp = x86::bits64::kFp};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{0};
// A frame pointer leads to the caller's, the return address, and the end of the frame.
inline constexpr rules::FrameRule kChain{.cfa = rules::FrameRule::Cfa::from_fp,
                                         .ret = rules::FrameRule::Return::stored,
                                         .fp = rules::FrameRule::Fp::stored,
                                         .cfa_offset = x86::bits64::kChain.cfa_above_fp,
                                         .return_slot = x86::bits64::kChain.return_slot,
                                         .fp_slot = x86::bits64::kChain.fp_slot};

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

inline constexpr std::span<const std::string_view> kRegisterNames{x86::bits64::kNames.data(),
                                                                  x86::bits64::kPc + 1};

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
