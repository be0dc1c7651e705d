// LoongArch's registers, frames and trampoline as plain numbers: libwhocall, which goes into
// programs, has them from here as well. LoongArch ELF psABI, "Register Convention" and "DWARF
// register numbers".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace whocall::loongarch {

inline constexpr std::uint16_t kElfMachine = 258;  // EM_LOONGARCH

inline constexpr std::uint16_t kZero = 0;
inline constexpr std::uint16_t kRa = 1;
inline constexpr std::uint16_t kTp = 2;
inline constexpr std::uint16_t kSp = 3;
inline constexpr std::uint16_t kA0 = 4;
inline constexpr std::uint16_t kFp = 22;
// DWARF has no number for the pc, and nothing else has this one.
inline constexpr std::uint16_t kPc = 64;

// Of the general registers, by number: gdb knows the others ("ra", "sp") as second names.
inline constexpr std::array<std::string_view, 32> kNames = {
    "r0",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",  "r7",  "r8",  "r9",  "r10",
    "r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21",
    "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31"};

// A frame pointer stands at the CFA; below it lie the return address and the caller's.
inline constexpr std::int32_t kReturnBelowFrame = -8;  // bytes
inline constexpr std::int32_t kLinkBelowFrame = -16;   // bytes

// li.w a7,__NR_rt_sigreturn; syscall 0
inline constexpr std::array<std::uint8_t, 8> kRtSigreturn = {0x0b, 0x2c, 0x82, 0x03,
                                                             0x00, 0x00, 0x2b, 0x00};

}  // namespace whocall::loongarch
