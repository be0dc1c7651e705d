// ARM, in A32 and T32 code: the Procedure Call Standard; <asm/sigcontext.h> of Linux.
#pragma once

#include <elf.h>
#include <ucontext.h>
#include <csignal>

#include <cstring>

#include "rules/arm_index.h"
#include "rules/cfi_rule.h"

namespace whocall::runtime {

// Its tables lead from any register to the caller's.
struct Point : rules::FramePoint {
  rules::ArmRegisters registers;
};

inline constexpr std::uint16_t kElfMachine = EM_ARM;
inline constexpr rules::FrameRegisters kRegisters{.sp = 13, .fp = 11, .link = 14};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{1};  // which says that it is T32
// In A32 code the frame pointer leads to the return address, with the caller's below it; T32 code
// has no chain.
inline constexpr rules::FrameRule kChain{.cfa = rules::FrameRule::Cfa::from_fp,
                                         .ret = rules::FrameRule::Return::stored,
                                         .fp = rules::FrameRule::Fp::stored,
                                         .cfa_offset = 4,
                                         .return_slot = -4,
                                         .fp_slot = -8};

inline void take_registers(Point& at) {
  const std::uint32_t* const values = at.registers.values.data();
  at.pc = values[rules::kArmPc] & kCodeMask;
  at.sp = values[rules::kArmSp];
  at.fp = values[11];
  at.fp_known = (at.registers.known >> 11U & 1U) != 0;
  at.link = values[rules::kArmLink] & kCodeMask;
  at.link_known = (at.registers.known >> rules::kArmLink & 1U) != 0;
}

[[gnu::always_inline]] inline Point here() {
  Point at;
  // Only those that calls preserve are of interest.
  asm volatile("stmia %0, {r4-r11}\n\tstr sp, [%1]\n\tadr r3, 1f\n1:\tstr r3, [%2]"
               :
               : "r"(at.registers.values.data() + 4), "r"(at.registers.values.data() + 13),
                 "r"(at.registers.values.data() + 15)
               : "r3", "memory");
  at.registers.known = 0xaff0;
  take_registers(at);
  return at;
}

inline Point point_of(const ucontext_t& context) {
  Point at;
  for (unsigned i = 0; i < 16; ++i) {
    at.registers.values.data()[i] = (&context.uc_mcontext.arm_r0)[i];
  }
  at.registers.known = 0xffff;
  take_registers(at);
  return at;
}

inline constexpr const char* kRegisterNames[] = {"r0", "r1", "r2",  "r3",  "r4",  "r5", "r6", "r7",
                                                 "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"};

inline std::uint64_t register_of(const ucontext_t& context, std::size_t number) {
  return (&context.uc_mcontext.arm_r0)[number];
}

// mov r7, #__NR_rt_sigreturn or #__NR_sigreturn; svc #0: in both codes.
inline constexpr std::size_t kTrampolineSize = 8;  // bytes

inline bool is_old_trampoline(const void* code) {
  std::uint32_t first = 0;
  std::memcpy(&first, code, sizeof first);
  return first == 0xe3a07077 || first == 0xdf002777 || first == 0x0777f04f;
}

inline bool is_trampoline(const void* code) {
  std::uint32_t words[2];
  std::memcpy(words, code, sizeof words);
  const bool a32 = words[1] == 0xef000000 && (words[0] & 0xffffff00U) == 0xe3a07000;
  const bool wide =
      (words[1] & 0xffffU) == 0xdf00 && (words[0] == 0x07adf04f || words[0] == 0x0777f04f);
  return (a32 && ((words[0] & 0xffU) == 173 || (words[0] & 0xffU) == 119)) || wide ||
         words[0] == 0xdf0027ad || words[0] == 0xdf002777;
}

// Behind a handler with SA_SIGINFO: siginfo, then the context; behind one without the context.
inline std::uintptr_t context_offset(std::uintptr_t trampoline) {
  return is_old_trampoline(reinterpret_cast<const void*>(trampoline)) ? 0 : sizeof(siginfo_t);
}

}  // namespace whocall::runtime
