// x86-64: the System V ABI; <asm/sigcontext.h> of Linux.
#pragma once

#include <ucontext.h>
#include <cstring>
#include <span>
#include <string_view>

#include "arch/x86/code_step.h"
#include "arch/x86/frame_facts.h"
#include "rules/cfi_rule.h"
#include "runtime/machine_x86.h"

namespace whocall::runtime {

using Point = rules::FramePoint;

inline constexpr std::uint16_t kElfMachine = x86::bits64::kElfMachine;
inline constexpr rules::FrameRegisters kRegisters{.sp = x86::bits64::kSp, .fp = x86::bits64::kFp};
inline constexpr std::uintptr_t kCodeMask = ~std::uintptr_t{0};
// A frame pointer leads to the caller's, the return address, and the end of the frame.
inline constexpr rules::FrameRule kChain{.cfa = rules::FrameRule::Cfa::from_fp,
                                         .ret = rules::FrameRule::Return::stored,
                                         .fp = rules::FrameRule::Fp::stored,
                                         .cfa_offset = x86::bits64::kChain.cfa_above_fp,
                                         .return_slot = x86::bits64::kChain.return_slot,
                                         .fp_slot = x86::bits64::kChain.fp_slot};

[[gnu::always_inline]] inline Point here() {
  Point at;
  asm volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
               : "=&r"(at.pc), "=&r"(at.sp), "=&r"(at.fp));
  return at;
}

inline Point point_of(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.gregs;
  Point at;
  at.pc = static_cast<std::uintptr_t>(registers[REG_RIP]);
  at.sp = static_cast<std::uintptr_t>(registers[REG_RSP]);
  at.fp = static_cast<std::uintptr_t>(registers[REG_RBP]);
  return at;
}

inline constexpr std::span<const std::string_view> kRegisterNames{x86::bits64::kNames.data(),
                                                                  x86::bits64::kPc + 1};

inline std::uint64_t register_of(const ucontext_t& context, std::size_t number) {
  constexpr int kPlaces[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                             REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                             REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[kPlaces[number]]);
}

// Where the trampoline behind a handler finds the context: at its stack pointer.
inline std::uintptr_t context_offset(std::uintptr_t /*trampoline*/) { return 0; }  // bytes

// glibc brings a trampoline with an unwind table that says what it is, musl one without.
inline constexpr std::size_t kTrampolineSize = x86::bits64::kRtSigreturn.size();  // bytes

inline bool is_trampoline(const void* code) {
  return std::memcmp(code, x86::bits64::kRtSigreturn.data(), kTrampolineSize) == 0;
}

inline constexpr StepReader kStepReader = x86::read_step;

// What a call before a return address has called. 0: its own instruction does not say it.
inline std::uintptr_t called_by(CodeBytes before, std::uintptr_t return_address) {
  const std::size_t size = before.size();
  std::int32_t distance = 0;
  if (size < 6) {
    return 0;
  }
  std::memcpy(&distance, before.data() + size - sizeof distance, sizeof distance);
  const std::uintptr_t place =
      return_address + static_cast<std::uintptr_t>(std::intptr_t{distance});
  return before.data()[size - 5] == 0xe8 ? place : 0;
}

// Where the address lies that a stub of an imported function jumps to, `jmp *n(%rip)`, maybe behind
// endbr64. 0: it is none. Of kStubSize bytes.
inline constexpr std::size_t kStubSize = 11;
inline std::uintptr_t slot_of_stub(const std::uint8_t* stub, std::uintptr_t address) {
  constexpr std::uint8_t kLandingPad[] = {0xf3, 0x0f, 0x1e, 0xfa};
  std::size_t at = std::memcmp(stub, kLandingPad, sizeof kLandingPad) == 0 ? sizeof kLandingPad : 0;
  at += stub[at] == 0xf2 ? 1 : 0;
  std::int32_t distance = 0;
  if (stub[at] != 0xff || stub[at + 1] != 0x25) {
    return 0;
  }
  std::memcpy(&distance, stub + at + 2, sizeof distance);
  return address + at + 6 + static_cast<std::uintptr_t>(std::intptr_t{distance});
}

}  // namespace whocall::runtime
