// AArch64: the Procedure Call Standard; <asm/sigcontext.h> of Linux.
#pragma once

#include <elf.h>
#include <ucontext.h>
#include <csignal>

#include <cstring>

#include "rules/cfi_rule.h"

namespace whocall::runtime {

using Point = rules::FramePoint;

inline constexpr std::uint16_t kElfMachine = EM_AARCH64;
inline constexpr rules::FrameRegisters kRegisters{.sp = 31, .fp = 29, .link = 30};
// What stands above the addresses of programs is a signature, or a tag.
inline constexpr std::uintptr_t kCodeMask = (std::uintptr_t{1} << 48U) - 1;
// A frame pointer leads to the caller's and the return address.
inline constexpr rules::FrameRule kChain{.cfa = rules::FrameRule::Cfa::from_fp,
                                         .ret = rules::FrameRule::Return::stored,
                                         .fp = rules::FrameRule::Fp::stored,
                                         .cfa_offset = 16,
                                         .return_slot = -8,
                                         .fp_slot = -16};

[[gnu::always_inline]] inline Point here() {
  Point at;
  asm volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29" : "=&r"(at.pc), "=&r"(at.sp), "=&r"(at.fp));
  return at;
}

inline Point point_of(const ucontext_t& context) {
  const mcontext_t& registers = context.uc_mcontext;
  Point at;
  at.pc = registers.pc;
  at.sp = registers.sp;
  at.fp = registers.regs[29];
  at.link = registers.regs[30] & kCodeMask;
  at.link_known = true;
  return at;
}

// In the order of DWARF's numbers, and the pc.
inline constexpr const char* kRegisterNames[] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
    "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
    "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc"};

inline std::uint64_t register_of(const ucontext_t& context, std::size_t number) {
  const mcontext_t& registers = context.uc_mcontext;
  return number < 31 ? registers.regs[number] : number == 31 ? registers.sp : registers.pc;
}

// Behind a handler: siginfo, then the context.
inline std::uintptr_t context_offset(std::uintptr_t /*trampoline*/) {
  return sizeof(siginfo_t);  // bytes
}

// mov x8, #__NR_rt_sigreturn; svc #0: where no file holds it, as under emulators.
inline constexpr std::size_t kTrampolineSize = 8;  // bytes

inline bool is_trampoline(const void* code) {
  constexpr std::uint32_t kCode[] = {0xd2801168, 0xd4000001};
  return std::memcmp(code, kCode, sizeof kCode) == 0;
}

}  // namespace whocall::runtime
