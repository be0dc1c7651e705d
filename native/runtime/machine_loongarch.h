// LoongArch of 64 bits: the LoongArch ELF psABI; <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <span>
#include <string_view>

#include <cstring>

#include "arch/loongarch/frame_facts.h"
#include "rules/cfi_rule.h"

namespace whocall::runtime {

using Point = rules::FramePoint;

inline constexpr std::uint16_t kElfMachine = loongarch::kElfMachine;
inline constexpr rules::FrameRegisters kRegisters{
    .sp = loongarch::kSp, .fp = loongarch::kFp, .link = loongarch::kRa};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{0};
// A frame pointer stands at the CFA; below it lie the return address and the caller's.
inline constexpr rules::FrameRule kChain{.cfa = rules::FrameRule::Cfa::from_fp,
                                         .ret = rules::FrameRule::Return::stored,
                                         .fp = rules::FrameRule::Fp::stored,
                                         .cfa_offset = 0,
                                         .return_slot = loongarch::kReturnBelowFrame,
                                         .fp_slot = loongarch::kLinkBelowFrame};

[[gnu::always_inline]] inline Point here() {
  Point at;
  asm volatile("pcaddi %0, 0\n\tmove %1, $sp\n\tmove %2, $fp"
               : "=&r"(at.pc), "=&r"(at.sp), "=&r"(at.fp));
  return at;
}

inline Point point_of(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.__gregs;
  Point at;
  at.pc = context.uc_mcontext.__pc;
  at.sp = registers[loongarch::kSp];
  at.fp = registers[loongarch::kFp];
  at.link = registers[loongarch::kRa];
  at.link_known = true;
  return at;
}

// By number, and the pc.
inline constexpr auto kRegisterNames = [] {
  std::array<std::string_view, loongarch::kNames.size() + 1> names{};
  std::ranges::copy(loongarch::kNames, names.begin());
  names.back() = "pc";
  return names;
}();

inline std::uint64_t register_of(const ucontext_t& context, std::size_t number) {
  const auto& machine = context.uc_mcontext;
  return number < loongarch::kNames.size() ? machine.__gregs[number] : machine.__pc;
}

// Behind a handler: siginfo, then the context.
inline std::uintptr_t context_offset(std::uintptr_t /*trampoline*/) {
  return sizeof(siginfo_t);  // bytes
}

// Where no file holds it, as under emulators.
inline constexpr std::size_t kTrampolineSize = loongarch::kRtSigreturn.size();  // bytes

inline bool is_trampoline(const void* code) {
  return std::memcmp(code, loongarch::kRtSigreturn.data(), kTrampolineSize) == 0;
}

// Calls and frame pointers in code: see code_checks.h.
using CodeBytes = std::span<const std::uint8_t>;
inline constexpr std::size_t kLongestCall = 4;  // bytes

inline std::uint32_t word_at(CodeBytes code, std::size_t place) {
  std::uint32_t word = 0;
  std::memcpy(&word, code.data() + place, sizeof word);
  return word;
}

// bl; jirl that leaves the return address in ra.
inline bool ends_with_call(CodeBytes before, std::uintptr_t /*return_address*/) {
  const std::uint32_t word = before.size() >= 4 ? word_at(before, before.size() - 4) : 0;
  return (word & 0xfc000000U) == 0x54000000U || (word & 0xfc00001fU) == 0x4c000001U;
}

// The signed constant of 12 bits of st.d and addi.d.
inline int constant_of(std::uint32_t word) {
  return static_cast<int>((word >> 10U & 0xfffU) ^ 0x800U) - 0x800;
}

// Folklore. Situation: where frame pointers are not kept, the register is one like others, and may
// point at a variable. Example: gcc -O2 for an array that is sorted, `addi.d $fp, $sp, 16`.
// Remedy: it counts if it was set to the place above what the return address and the caller's frame
// pointer were put into, and the stack pointer has not moved between.
inline bool sets_frame_pointer(CodeBytes code, std::uintptr_t /*mode*/) {
  constexpr std::uint32_t kStackSlot = loongarch::kSp << 5U;
  int link_end = -1;    // where the slot of $ra ends, bytes above the stack pointer; -1: nowhere
  int fp_slot_end = 0;  // likewise of $fp
  for (std::size_t at = 0; at + 4 <= code.size(); at += 4) {
    const std::uint32_t word = word_at(code, at);
    const std::uint32_t operation = word & 0xffc00000U;
    const std::uint32_t registers = word & 0x3ffU;
    const int end = constant_of(word) + 8;
    if (operation == 0x29c00000U && registers == (kStackSlot | loongarch::kRa)) {  // st.d
      link_end = end;
    } else if (operation == 0x29c00000U && registers == (kStackSlot | loongarch::kFp)) {
      fp_slot_end = end;
    } else if (operation == 0x02c00000U && registers == (kStackSlot | loongarch::kFp)) {  // addi.d
      if (constant_of(word) == link_end && fp_slot_end == link_end - 8) {
        return true;
      }
    } else if ((word & 31U) == loongarch::kSp && (word >> 26U) == 0) {  // sums and differences
      link_end = -1;
    }
  }
  return false;
}

}  // namespace whocall::runtime
