// ARM, in A32 and T32 code: the Procedure Call Standard; <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>
#include <algorithm>
#include <csignal>
#include <span>
#include <string_view>

#include <cstring>

#include "arch/arm/frame_facts.h"
#include "rules/arm_index.h"
#include "rules/cfi_rule.h"

namespace whocall::runtime {

// Its tables lead from any register to the caller's.
struct Point : rules::FramePoint {
  rules::ArmRegisters registers;
};

inline constexpr std::uint16_t kElfMachine = arm::kElfMachine;
inline constexpr rules::FrameRegisters kRegisters{
    .sp = arm::kSp, .fp = arm::kFp, .link = arm::kLink};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{arm::kThumbBit};
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
  at.fp = values[arm::kFp];
  at.fp_known = (at.registers.known >> arm::kFp & 1U) != 0;
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

inline constexpr std::span<const std::string_view> kRegisterNames{arm::kNames.data(), arm::kPc + 1};

inline std::uint64_t register_of(const ucontext_t& context, std::size_t number) {
  return (&context.uc_mcontext.arm_r0)[number];
}

inline constexpr std::size_t kTrampolineSize = arm::kLongestTrampoline;  // bytes

// Byte by byte: a short one may be the last of its page.
inline bool is_one_of(std::span<const std::span<const std::uint8_t>> trampolines,
                      const void* code) {
  const auto* bytes = static_cast<const volatile std::uint8_t*>(code);
  return std::ranges::any_of(trampolines, [&](std::span<const std::uint8_t> trampoline) {
    std::size_t same = 0;
    while (same < trampoline.size() && bytes[same] == trampoline.data()[same]) {
      ++same;
    }
    return same == trampoline.size();
  });
}

inline bool is_old_trampoline(const void* code) { return is_one_of(arm::kOldTrampolines, code); }

inline bool is_trampoline(const void* code) {
  return is_old_trampoline(code) || is_one_of(arm::kNewTrampolines, code);
}

// Behind a handler with SA_SIGINFO: siginfo, then the context; behind one without the context.
inline std::uintptr_t context_offset(std::uintptr_t trampoline) {
  return is_old_trampoline(reinterpret_cast<const void*>(trampoline)) ? 0 : sizeof(siginfo_t);
}

// Calls and frame pointers in code: see code_checks.h.
using CodeBytes = std::span<const std::uint8_t>;
inline constexpr std::size_t kLongestCall = 4;  // bytes

inline std::uint32_t word_at(CodeBytes code, std::size_t place) {
  std::uint32_t word = 0;
  std::memcpy(&word, code.data() + place, sizeof word);
  return word;
}

inline std::uint16_t half_at(CodeBytes code, std::size_t place) {
  std::uint16_t half = 0;
  std::memcpy(&half, code.data() + place, sizeof half);
  return half;
}

// A32: bl, blx; T32: bl, blx of two halves, blx by a register. Which it is the return address says.
inline bool ends_with_call(CodeBytes before, std::uintptr_t return_address) {
  const std::size_t size = before.size();
  if ((return_address & arm::kThumbBit) != 0) {
    return (size >= 2 && (half_at(before, size - 2) & 0xff87U) == 0x4780U) ||
           (size >= 4 && (half_at(before, size - 4) & 0xf800U) == 0xf000U &&
            (half_at(before, size - 2) & 0xc000U) == 0xc000U);
  }
  const std::uint32_t word = size >= 4 ? word_at(before, size - 4) : 0;
  return (word & 0x0f000000U) == 0x0b000000U || (word & 0x0ffffff0U) == 0x012fff30U;
}

// A32 alone: add fp, sp, #n; sub fp, ip, #n; mov fp, sp.
inline bool sets_frame_pointer(CodeBytes code, std::uintptr_t mode) {
  for (std::size_t at = 0; (mode & arm::kThumbBit) == 0 && at + 4 <= code.size(); at += 4) {
    const std::uint32_t word = word_at(code, at) & 0x0fffffffU;
    if ((word & ~0xfffU) == 0x028db000U || (word & ~0xfffU) == 0x024cb000U || word == 0x01a0b00dU) {
      return true;
    }
  }
  return false;
}

}  // namespace whocall::runtime
