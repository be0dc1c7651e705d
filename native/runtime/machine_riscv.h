// RISC-V of 64 bits: the RISC-V ELF psABI; <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <span>
#include <string_view>

#include <cstring>

#include "arch/riscv/frame_facts.h"
#include "rules/cfi_rule.h"

namespace whocall::runtime {

using Point = rules::FramePoint;

inline constexpr std::uint16_t kElfMachine = riscv::kElfMachine;
inline constexpr rules::FrameRegisters kRegisters{
    .sp = riscv::kSp, .fp = riscv::kFp, .link = riscv::kRa};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{0};
// A frame pointer stands at the CFA; below it lie the return address and the caller's.
inline constexpr rules::FrameRule kChain{.cfa = rules::FrameRule::Cfa::from_fp,
                                         .ret = rules::FrameRule::Return::stored,
                                         .fp = rules::FrameRule::Fp::stored,
                                         .cfa_offset = 0,
                                         .return_slot = riscv::kReturnBelowFrame,
                                         .fp_slot = riscv::kLinkBelowFrame};

[[gnu::always_inline]] inline Point here() {
  Point at;
  asm volatile("auipc %0, 0\n\tmv %1, sp\n\tmv %2, s0" : "=&r"(at.pc), "=&r"(at.sp), "=&r"(at.fp));
  return at;
}

// The pc stands where x0 would.
inline Point point_of(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.__gregs;
  Point at;
  at.pc = registers[REG_PC];
  at.sp = registers[riscv::kSp];
  at.fp = registers[riscv::kFp];
  at.link = registers[riscv::kRa];
  at.link_known = true;
  return at;
}

// By number, x0 among them, and the pc.
inline constexpr auto kRegisterNames = [] {
  std::array<std::string_view, riscv::kNames.size() + 1> names{};
  std::ranges::copy(riscv::kNames, names.begin());
  names.back() = "pc";
  return names;
}();

inline std::uint64_t register_of(const ucontext_t& context, std::size_t number) {
  const auto& registers = context.uc_mcontext.__gregs;
  return number == riscv::kZero          ? 0
         : number < riscv::kNames.size() ? registers[number]
                                         : registers[REG_PC];
}

// Behind a handler: siginfo, then the context.
inline std::uintptr_t context_offset(std::uintptr_t /*trampoline*/) {
  return sizeof(siginfo_t);  // bytes
}

// Where no file holds it, as under emulators.
inline constexpr std::size_t kTrampolineSize = riscv::kRtSigreturn.size();  // bytes

inline bool is_trampoline(const void* code) {
  return std::memcmp(code, riscv::kRtSigreturn.data(), kTrampolineSize) == 0;
}

// Calls and frame pointers in code: see code_checks.h.
using CodeBytes = std::span<const std::uint8_t>;
inline constexpr std::size_t kLongestCall = 4;  // bytes

inline std::uint32_t word_at(CodeBytes code, std::size_t place) {
  std::uint32_t word = 0;
  std::memcpy(&word, code.data() + place, sizeof word);
  return word;
}

// jal and jalr that leave the return address in ra or t0; c.jalr.
inline bool ends_with_call(CodeBytes before, std::uintptr_t /*return_address*/) {
  const std::size_t size = before.size();
  const std::uint32_t word = size >= 4 ? word_at(before, size - 4) : 0;
  const std::uint32_t jump = word & 0x7fU;
  const std::uint32_t link = word >> 7U & 31U;
  const unsigned half =
      size < 2 ? 0U : before.data()[size - 2] | unsigned{before.data()[size - 1]} << 8U;
  const bool is_jump = jump == 0x6fU || (jump == 0x67U && (word & 0x7000U) == 0);
  return (is_jump && (link == 1 || link == 5)) ||
         ((half & 0xf07fU) == 0x9002U && (half & 0x0f80U) != 0);
}

// Where an instruction stores a register above the stack pointer; bytes, to the end of the slot.
struct StoredAbove {
  std::uint32_t number = 0;
  int end = -1;
};

// sd, c.sdsp.
inline StoredAbove stored_above_sp(std::uint32_t word) {
  if ((word & 0xff07fU) == (riscv::kSp << 15U | 0x3023U)) {
    const auto low = static_cast<int>(word >> 7U & 31U);
    return {word >> 20U & 31U, (static_cast<int>(word >> 25U) << 5U) + low + 8};
  }
  if ((word & 0xe003U) == 0xe002U) {
    return {word >> 2U & 31U,
            static_cast<int>((word >> 10U & 7U) << 3U | (word >> 7U & 7U) << 6U) + 8};
  }
  return {};
}

// addi s0, sp, n; c.addi4spn s0, sp, n: the constant. 0: it is neither.
inline int frame_pointer_above_sp(std::uint32_t word) {
  if ((word & 0x800fffffU) == 0x10413U) {
    return static_cast<int>(word >> 20U);
  }
  if ((word & 0xe01fU) != 0) {
    return 0;
  }
  return static_cast<int>((word >> 11U & 3U) << 4U | (word >> 7U & 15U) << 6U |
                          (word >> 6U & 1U) << 2U | (word >> 5U & 1U) << 3U);
}

// Whether it gives its result to the stack pointer: sums, differences, c.addi, c.addi16sp, c.mv.
inline bool may_move_sp(std::uint32_t word) {
  const std::uint32_t kind = word & 0x7fU;
  const bool is_short = (word & 3U) != 3;
  const bool is_sum =
      is_short ? (word & 0xe003U) == 1 || (word & 0xe003U) == 0x6001U || (word & 0xe003U) == 0x8002U
               : kind == 0x13 || kind == 0x33;
  return is_sum && (word >> 7U & 31U) == riscv::kSp;
}

// Folklore. Situation: where frame pointers are not kept, the register is one like others, and may
// point at a variable. Example: gcc -O2 for an array that is sorted, `addi s0,sp,16`.
// Remedy: it counts if it was set to the place above what the return address and the caller's frame
// pointer were put into, and the stack pointer has not moved between.
inline bool sets_frame_pointer(CodeBytes code, std::uintptr_t /*mode*/) {
  int link_end = -1;    // where the slot of ra ends, bytes above the stack pointer; -1: nowhere
  int fp_slot_end = 0;  // likewise of s0
  std::size_t size = 0;
  for (std::size_t at = 0; at + 4 <= code.size(); at += size) {
    std::uint32_t word = word_at(code, at);
    size = (word & 3U) == 3 ? 4 : 2;
    word = size == 2 ? word & 0xffffU : word;
    const int made = frame_pointer_above_sp(word);
    if (made != 0 && made == link_end && fp_slot_end == link_end - 8) {
      return true;
    }
    const StoredAbove stored = stored_above_sp(word);
    link_end = may_move_sp(word) ? -1 : stored.number == riscv::kRa ? stored.end : link_end;
    fp_slot_end = stored.number == riscv::kFp ? stored.end : fp_slot_end;
  }
  return false;
}

}  // namespace whocall::runtime
