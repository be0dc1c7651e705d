// ARM's registers and trampolines as plain numbers: libwhocall, which goes into programs, has them
// from here as well. The Procedure Call Standard and the DWARF of the Arm Architecture.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace whocall::arm {

inline constexpr std::uint16_t kElfMachine = 40;  // EM_ARM

inline constexpr std::uint16_t kThumbFp = 7;
inline constexpr std::uint16_t kFp = 11;
inline constexpr std::uint16_t kScratch = 12;  // ip: stubs may overwrite it in every call
inline constexpr std::uint16_t kSp = 13;
inline constexpr std::uint16_t kLink = 14;
inline constexpr std::uint16_t kPc = 15;
inline constexpr std::uint16_t kFlags = 16;

// By number; libwhocall tells of those up to the pc.
inline constexpr std::array<std::string_view, 17> kNames = {"r0",  "r1", "r2", "r3", "r4",  "r5",
                                                            "r6",  "r7", "r8", "r9", "r10", "r11",
                                                            "r12", "sp", "lr", "pc", "cpsr"};

// Of a code address; set where the code is T32.
inline constexpr std::uint32_t kThumbBit = 1;

// mov r7,#__NR_sigreturn, or __NR_rt_sigreturn; svc #0; in A32 and, narrow and wide, in T32.
// Instructions are little-endian, whatever the data are.
inline constexpr std::array<std::uint8_t, 8> kSigreturn = {0x77, 0x70, 0xa0, 0xe3,
                                                           0x00, 0x00, 0x00, 0xef};
inline constexpr std::array<std::uint8_t, 8> kRtSigreturn = {0xad, 0x70, 0xa0, 0xe3,
                                                             0x00, 0x00, 0x00, 0xef};
inline constexpr std::array<std::uint8_t, 4> kThumbSigreturn = {0x77, 0x27, 0x00, 0xdf};
inline constexpr std::array<std::uint8_t, 4> kThumbRtSigreturn = {0xad, 0x27, 0x00, 0xdf};
inline constexpr std::array<std::uint8_t, 6> kWideSigreturn = {0x4f, 0xf0, 0x77, 0x07, 0x00, 0xdf};
inline constexpr std::array<std::uint8_t, 6> kWideRtSigreturn = {0x4f, 0xf0, 0xad,
                                                                 0x07, 0x00, 0xdf};

// Those of handlers without SA_SIGINFO, and of those with it.
inline constexpr std::array<std::span<const std::uint8_t>, 3> kOldTrampolines = {
    {kSigreturn, kThumbSigreturn, kWideSigreturn}};
inline constexpr std::array<std::span<const std::uint8_t>, 3> kNewTrampolines = {
    {kRtSigreturn, kThumbRtSigreturn, kWideRtSigreturn}};
inline constexpr std::uint32_t kLongestTrampoline = 8;  // bytes

}  // namespace whocall::arm
