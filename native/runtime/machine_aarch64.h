// AArch64: the Procedure Call Standard; <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>
#include <csignal>
#include <span>
#include <string_view>

#include <cstring>

#include "arch/aarch64/frame_facts.h"
#include "rules/cfi_rule.h"

namespace whocall::runtime {

using Point = rules::FramePoint;

inline constexpr std::uint16_t kElfMachine = aarch64::kElfMachine;
inline constexpr rules::FrameRegisters kRegisters{
    .sp = aarch64::kSp, .fp = aarch64::kFp, .link = aarch64::kLink};
inline constexpr std::uintptr_t kCodeMask = (std::uintptr_t{1} << aarch64::kAddressBits) - 1;
// A frame pointer leads to the caller's and the return address.
inline constexpr rules::FrameRule kChain{.cfa = rules::FrameRule::Cfa::from_fp,
                                         .ret = rules::FrameRule::Return::stored,
                                         .fp = rules::FrameRule::Fp::stored,
                                         .cfa_offset = 16,  // what a frame of a record alone has
                                         .return_slot = aarch64::kReturnInRecord - 16,
                                         .fp_slot = aarch64::kLinkInRecord - 16};

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
  at.fp = registers.regs[aarch64::kFp];
  at.link = registers.regs[aarch64::kLink] & kCodeMask;
  at.link_known = true;
  return at;
}

inline constexpr std::span<const std::string_view> kRegisterNames{aarch64::kNames.data(),
                                                                  aarch64::kPc + 1};

inline std::uint64_t register_of(const ucontext_t& context, std::size_t number) {
  const mcontext_t& registers = context.uc_mcontext;
  return number < aarch64::kSp    ? registers.regs[number]
         : number == aarch64::kSp ? registers.sp
                                  : registers.pc;
}

// Behind a handler: siginfo, then the context.
inline std::uintptr_t context_offset(std::uintptr_t /*trampoline*/) {
  return sizeof(siginfo_t);  // bytes
}

// Where no file holds it, as under emulators.
inline constexpr std::size_t kTrampolineSize = aarch64::kRtSigreturn.size();  // bytes

inline bool is_trampoline(const void* code) {
  return std::memcmp(code, aarch64::kRtSigreturn.data(), kTrampolineSize) == 0;
}

// Calls and frame pointers in code: see code_checks.h.
using CodeBytes = std::span<const std::uint8_t>;
inline constexpr std::size_t kLongestCall = 4;  // bytes

inline std::uint32_t word_at(CodeBytes code, std::size_t place) {
  std::uint32_t word = 0;
  std::memcpy(&word, code.data() + place, sizeof word);
  return word;
}

// bl, blr, and the forms of blr that check a signature.
inline bool ends_with_call(CodeBytes before, std::uintptr_t /*return_address*/) {
  if (before.size() < 4) {
    return false;
  }
  const std::uint32_t word = word_at(before, before.size() - 4);
  return (word & 0xfc000000U) == 0x94000000U || (word & 0xfefff800U) == 0xd63f0800U ||
         (word & 0xfffffc1fU) == 0xd63f0000U;
}

// mov x29, sp; add x29, sp, #n
inline bool sets_frame_pointer(CodeBytes code, std::uintptr_t /*mode*/) {
  for (std::size_t at = 0; at + 4 <= code.size(); at += 4) {
    if ((word_at(code, at) & 0xff8003ffU) == 0x910003fdU) {
      return true;
    }
  }
  return false;
}

}  // namespace whocall::runtime
