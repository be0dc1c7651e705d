// ARM, in A32 and T32 code: the Procedure Call Standard; <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>
#include <algorithm>
#include <bit>
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

// How far the return address lies above the stack pointer behind an instruction of A32 code that
// pushes {.., fp, lr}, with which a frame begins that kChain leads through, or vector registers
// below those; bytes. 0: the instruction is neither.
inline std::uint32_t pushed_below_link(std::uint32_t word, std::uint32_t before) {
  if (before != 0 && (word & 0xffbf0e00U) == 0xed2d0a00U) {  // vpush
    return before + 4 * (word & 0xffU);
  }
  constexpr std::uint32_t kAnchors = 1U << arm::kFp | 1U << arm::kLink;
  const bool pushes = (word & 0xffff0000U) == 0xe92d0000U;
  if (!pushes || (word & 0xf800U) != kAnchors) {
    return 0;
  }
  return 4 * static_cast<std::uint32_t>(std::popcount(word & 0xffffU) - 1);
}

// Whether the stack pointer is what an instruction of A32 code gives its result to, or the base of
// a load or store that writes it back.
inline bool may_move_sp(std::uint32_t word) {
  // 0, 1: sums; 2, 3: a word; 4: several; 6: vectors
  const std::uint32_t kind = word >> 25U & 7U;
  const bool is_word = kind == 2 || kind == 3;
  const bool is_written_back = (word & 1U << 21U) != 0 || (is_word && (word & 1U << 24U) == 0);
  return (kind < 4 && (word >> 12U & 15U) == arm::kSp) ||
         ((is_word || kind == 4 || kind == 6) && is_written_back &&
          (word >> 16U & 15U) == arm::kSp);
}

// Folklore. Situation: where frame pointers are not kept, the register is one like others, and may
// point at a variable. Example: gcc -O2 for an array that is sorted, `add fp, sp, #16` in A32 code.
// Remedy: it counts if it was set to where the return address and the caller's frame pointer were
// put, and the stack pointer has not moved between. T32 code has no chain.
inline bool sets_frame_pointer(CodeBytes code, std::uintptr_t mode) {
  std::uint32_t below_link = 0;  // of the last push, 0 where the stack pointer has moved
  for (std::size_t at = 0; (mode & arm::kThumbBit) == 0 && at + 4 <= code.size(); at += 4) {
    const std::uint32_t word = word_at(code, at);
    if (below_link != 0 && word == (0xe28db000U | below_link)) {
      return true;
    }
    const std::uint32_t pushed = pushed_below_link(word, below_link);
    below_link = pushed != 0 || may_move_sp(word) ? pushed : below_link;
  }
  return false;
}

}  // namespace whocall::runtime
