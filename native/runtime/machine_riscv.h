// RISC-V of 64 bits: the RISC-V ELF psABI; <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>
#include <algorithm>
#include <array>
#include <csignal>
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

}  // namespace whocall::runtime
