// The registers and trampolines of MIPS as plain numbers: libwhocall, which goes into programs, has
// them from here as well. System V ABI, MIPS RISC Processor Supplement; MIPSpro N32 ABI Handbook.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace whocall::mips {

inline constexpr std::uint16_t kElfMachine = 8;  // EM_MIPS

// What a register of an ABI is, by number: the conventional names of the manuals.
inline constexpr std::uint16_t kZero = 0;
inline constexpr std::uint16_t kV0 = 2;
inline constexpr std::uint16_t kA3 = 7;
inline constexpr std::uint16_t kT9 = 25;
inline constexpr std::uint16_t kGp = 28;
inline constexpr std::uint16_t kSp = 29;
inline constexpr std::uint16_t kFp = 30;
inline constexpr std::uint16_t kRa = 31;

// By number: of o32, and of n32 and n64, which have twice as many registers for arguments.
inline constexpr std::array<std::string_view, 32> kOldNames = {
    "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2",
    "t3",   "t4", "t5", "t6", "t7", "s0", "s1", "s2", "s3", "s4", "s5",
    "s6",   "s7", "t8", "t9", "k0", "k1", "gp", "sp", "s8", "ra"};
inline constexpr std::array<std::string_view, 32> kNewNames = {
    "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "a4", "a5", "a6",
    "a7",   "t0", "t1", "t2", "t3", "s0", "s1", "s2", "s3", "s4", "s5",
    "s6",   "s7", "t8", "t9", "k0", "k1", "gp", "sp", "s8", "ra"};

// li v0,NUMBER; syscall
constexpr std::array<std::uint8_t, 8> system_call(std::uint16_t number, bool big_endian) {
  const auto high = static_cast<std::uint8_t>(number >> 8U);
  const auto low = static_cast<std::uint8_t>(number & 0xffU);
  using Code = std::array<std::uint8_t, 8>;
  return big_endian ? Code{0x24, 0x02, high, low, 0, 0, 0, 0x0c}
                    : Code{low, high, 0x02, 0x24, 0x0c, 0, 0, 0};
}
// sigreturn and rt_sigreturn of o32, rt_sigreturn of n64 and of n32.
inline constexpr std::uint16_t kSigreturn = 4119;
inline constexpr std::uint16_t kRtSigreturn = 4193;
inline constexpr std::uint16_t kRtSigreturnN64 = 5211;
inline constexpr std::uint16_t kRtSigreturnN32 = 6211;

}  // namespace whocall::mips
