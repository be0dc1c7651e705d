// AArch64's registers, frames and trampolines as plain numbers: libwhocall, which goes into
// programs, has them from here as well. The Procedure Call Standard and the DWARF of the Arm 64-bit
// Architecture.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace whocall::aarch64 {

inline constexpr std::uint16_t kElfMachine = 183;  // EM_AARCH64

inline constexpr std::uint16_t kFp = 29;
inline constexpr std::uint16_t kLink = 30;
// As DWARF numbers it; in many instructions 31 is no register.
inline constexpr std::uint16_t kSp = 31;
inline constexpr std::uint16_t kPc = 32;
inline constexpr std::uint16_t kFlags = 33;

// By number; libwhocall tells of those up to the pc.
inline constexpr std::array<std::string_view, 34> kNames = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10", "x11",
    "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
    "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc",  "cpsr"};

// Where addresses of programs end as a rule: what stands above is a signature, or a tag.
inline constexpr unsigned kAddressBits = 48;

// Of the record that a frame pointer leads to: the caller's frame pointer, the return address.
inline constexpr std::int32_t kLinkInRecord = 0;    // bytes
inline constexpr std::int32_t kReturnInRecord = 8;  // bytes

// mov x8,#__NR_rt_sigreturn; svc #0
inline constexpr std::array<std::uint8_t, 8> kRtSigreturn = {0x68, 0x11, 0x80, 0xd2,
                                                             0x01, 0x00, 0x00, 0xd4};

}  // namespace whocall::aarch64
