// AArch64: the Procedure Call Standard; <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>
#include <csignal>
#include <span>
#include <string_view>

#include <cstring>

#include "arch/aarch64/code_step.h"
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

// stp x29, x30, [sp, #n] with and without what writes the stack pointer back: from the stack
// pointer that it leaves to what it has stored, bytes. -1: it is none.
inline int stored_record(std::uint32_t word) {
  if ((word & 0xffc07fffU) == 0xa9807bfdU) {
    return 0;
  }
  return (word & 0xffe07fffU) == 0xa9007bfdU ? static_cast<int>(word >> 15U & 63U) * 8 : -1;
}

// Sums and differences that go to the stack pointer; loads and stores of pairs and single registers
// that write it back.
inline bool may_move_sp(std::uint32_t word) {
  const bool is_sum = (word & 0x3f00001fU) == 0x1100001fU || (word & 0x3fe0001fU) == 0x0b20001fU;
  const bool is_pair = (word & 0x3a8003e0U) == 0x288003e0U;
  const bool is_single = (word & 0x3b2007e0U) == 0x380007e0U;
  return is_sum || is_pair || is_single;
}

// Folklore. Situation: where frame pointers are not kept, the register is one like others, and may
// point at a variable. Example: gcc -O2 for an array that is sorted, `add x29, sp, 16`. Remedy: it
// counts if it was set to where the return address and the caller's frame pointer were put, and the
// stack pointer has not moved between.
inline bool sets_frame_pointer(CodeBytes code, std::uintptr_t /*mode*/) {
  int record = -1;  // bytes above the stack pointer; -1: none, or it has moved
  for (std::size_t at = 0; at + 4 <= code.size(); at += 4) {
    const std::uint32_t word = word_at(code, at);
    if (record >= 0 && word == (0x910003fdU | static_cast<std::uint32_t>(record) << 10U)) {
      return true;  // mov x29, sp; add x29, sp, #n
    }
    const int stored = stored_record(word);
    record = stored >= 0 || may_move_sp(word) ? stored : record;
  }
  return false;
}

inline constexpr StepReader kStepReader = aarch64::read_step;

// What a call before a return address has called. 0: its own instruction does not say it.
inline std::uintptr_t called_by(CodeBytes before, std::uintptr_t return_address) {
  const std::uint32_t word = before.size() >= 4 ? word_at(before, before.size() - 4) : 0;
  if ((word & 0xfc000000U) != 0x94000000U) {
    return 0;
  }
  const auto words = static_cast<std::int32_t>(word << 6U) >> 6;
  return return_address - 4 + static_cast<std::uintptr_t>(std::intptr_t{words} * 4);
}

// Where the address lies that a stub of an imported function jumps to: adrp x16, page; ldr x17,
// [x16, #n]. 0: it is none. Of kStubSize bytes.
inline constexpr std::size_t kStubSize = 12;
inline std::uintptr_t slot_of_stub(const std::uint8_t* stub, std::uintptr_t address) {
  constexpr std::uint32_t kLandingPad = 0xd503245f;  // bti c
  const CodeBytes code{stub, kStubSize};
  const std::size_t at = word_at(code, 0) == kLandingPad ? 4 : 0;
  const std::uint32_t page = word_at(code, at);
  const std::uint32_t load = word_at(code, at + 4);
  if ((page & 0x9f00001fU) != 0x90000010U || (load & 0xffc003ffU) != 0xf9400211U) {
    return 0;
  }
  const std::uint32_t high = page >> 5U & 0x7ffffU;
  const auto pages = static_cast<std::int32_t>((high << 2U | (page >> 29U & 3U)) << 11U) >> 11;
  return (address & ~std::uintptr_t{0xfff}) +
         static_cast<std::uintptr_t>(std::intptr_t{pages} * 4096) + (load >> 10U & 0xfffU) * 8;
}

}  // namespace whocall::runtime
