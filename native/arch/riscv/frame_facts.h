// RISC-V's registers, frames and trampoline as plain numbers: libwhocall, which goes into programs,
// has them from here as well. RISC-V ELF psABI, "Integer Register Convention", "Frame Pointer
// Convention" and "DWARF register numbers".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace whocall::riscv {

inline constexpr std::uint16_t kElfMachine = 243;  // EM_RISCV

inline constexpr std::uint16_t kZero = 0;
inline constexpr std::uint16_t kRa = 1;
inline constexpr std::uint16_t kSp = 2;
inline constexpr std::uint16_t kGp = 3;
inline constexpr std::uint16_t kTp = 4;
// Where a function that saves registers for others has its return address (-msave-restore).
inline constexpr std::uint16_t kT0 = 5;
inline constexpr std::uint16_t kFp = 8;
inline constexpr std::uint16_t kA0 = 10;
// DWARF has no number for the pc; what a signal's frame returns to is named by this one.
inline constexpr std::uint16_t kPc = 64;

// Of the general registers, by number.
inline constexpr std::array<std::string_view, 32> kNames = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

// A frame pointer stands at the CFA; below it lie the return address and the caller's.
inline constexpr std::int32_t kReturnBelowFrame = -8;  // bytes
inline constexpr std::int32_t kLinkBelowFrame = -16;   // bytes

// li a7,__NR_rt_sigreturn; ecall
inline constexpr std::array<std::uint8_t, 8> kRtSigreturn = {0x93, 0x08, 0xb0, 0x08,
                                                             0x73, 0x00, 0x00, 0x00};

}  // namespace whocall::riscv
