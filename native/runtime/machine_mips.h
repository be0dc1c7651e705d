// MIPS, o32, n32 and n64: <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>
#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstddef>
#include <span>
#include <string_view>

#include <cstring>

#include "arch/mips/frame_facts.h"
#include "rules/cfi_rule.h"

namespace whocall::runtime {

using Point = rules::FramePoint;

inline constexpr std::uint16_t kElfMachine = mips::kElfMachine;
inline constexpr rules::FrameRegisters kRegisters{
    .sp = mips::kSp, .fp = mips::kFp, .link = mips::kRa};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{0};
// Frame pointers form no chain: what a function stores lies where it likes.
inline constexpr rules::FrameRule kChain{};

[[gnu::always_inline]] inline Point here() {
  Point at;
  // A branch over its delay slot leaves the address behind it, and the register is said to change.
  asm volatile(
      ".set push\n\t.set noreorder\n\tbal 1f\n\tnop\n1:\tmove %0, $31\n\tmove %1, $29\n\t"
      "move %2, $30\n\t.set pop"
      : "=&r"(at.pc), "=&r"(at.sp), "=&r"(at.fp)
      :
      : "$31");
  return at;
}

inline Point point_of(const ucontext_t& context) {
  const mcontext_t& registers = context.uc_mcontext;
  Point at;
  at.pc = static_cast<std::uintptr_t>(registers.pc);
  at.sp = static_cast<std::uintptr_t>(registers.gregs[mips::kSp]);
  at.fp = static_cast<std::uintptr_t>(registers.gregs[mips::kFp]);
  at.link = static_cast<std::uintptr_t>(registers.gregs[mips::kRa]);
  at.link_known = true;
  return at;
}

inline constexpr auto kRegisterNames = [] {
  std::array<std::string_view, 33> names{};
#if _MIPS_SIM == _ABIO32
  std::ranges::copy(mips::kOldNames, names.begin());
#else
  std::ranges::copy(mips::kNewNames, names.begin());
#endif
  names[32] = "pc";
  return names;
}();

inline std::uint64_t register_of(const ucontext_t& context, std::size_t number) {
  const mcontext_t& registers = context.uc_mcontext;
  return static_cast<std::uintptr_t>(number < 32 ? registers.gregs[number] : registers.pc);
}

// On the stack, or in the kernel's page.
inline constexpr std::size_t kTrampolineSize = 8;  // bytes

inline bool is_call_of(std::uint16_t number, const void* code) {
  const auto bytes = mips::system_call(number, std::endian::native == std::endian::big);
  return std::memcmp(code, bytes.data(), bytes.size()) == 0;
}

inline bool is_old_trampoline(const void* code) { return is_call_of(mips::kSigreturn, code); }

inline bool is_trampoline(const void* code) {
  return is_old_trampoline(code) || is_call_of(mips::kRtSigreturn, code) ||
         is_call_of(mips::kRtSigreturnN64, code) || is_call_of(mips::kRtSigreturnN32, code);
}

// Behind a handler: four words of arguments and two more, then siginfo and context; or with an old
// trampoline what the context has of registers.
inline std::uintptr_t context_offset(std::uintptr_t trampoline) {
  constexpr std::uintptr_t kBefore = 24;  // bytes
  return is_old_trampoline(reinterpret_cast<const void*>(trampoline))
             ? kBefore - offsetof(ucontext_t, uc_mcontext)
             : kBefore + sizeof(siginfo_t);
}

// Nobody asks where there is no chain: see code_checks.h.
using CodeBytes = std::span<const std::uint8_t>;
inline constexpr std::size_t kLongestCall = 8;  // bytes, the delay slot among them

inline bool ends_with_call(CodeBytes /*before*/, std::uintptr_t /*return_address*/) {
  return false;
}

inline bool sets_frame_pointer(CodeBytes /*code*/, std::uintptr_t /*mode*/) { return false; }

}  // namespace whocall::runtime
