// The registers and frames of x86 as plain numbers: libwhocall, which goes into programs, has them
// from here as well. System V psABI of AMD64 (figure 3.36) and of i386 as Linux and gcc use it
// (table 2.14; %esp is 4 and %ebp is 5 in .eh_frame, unlike Darwin).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace whocall::x86 {

// What the frame pointer leads to: offsets from the CFA, which lies this far above it, bytes.
struct ChainPlaces {
  std::int32_t cfa_above_fp = 0;
  std::int32_t return_slot = 0;
  std::int32_t fp_slot = 0;
};

namespace bits64 {
inline constexpr std::uint16_t kElfMachine = 62;  // EM_X86_64
inline constexpr std::uint16_t kFp = 6;
inline constexpr std::uint16_t kSp = 7;
inline constexpr std::uint16_t kPc = 16;
inline constexpr ChainPlaces kChain = {16, -8, -16};
// mov $__NR_rt_sigreturn,%rax; syscall
inline constexpr std::array<std::uint8_t, 9> kRtSigreturn = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
                                                             0x00, 0x00, 0x0f, 0x05};
// By number; libwhocall tells of those up to the pc.
inline constexpr std::array<std::string_view, 60> kNames = [] {
  std::array<std::string_view, 60> names = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                            "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                            "r12", "r13", "r14", "r15", "rip"};
  names[49] = "eflags";
  names[50] = "es";
  names[51] = "cs";
  names[52] = "ss";
  names[53] = "ds";
  names[54] = "fs";
  names[55] = "gs";
  names[58] = "fs_base";
  names[59] = "gs_base";
  return names;
}();
}  // namespace bits64

namespace bits32 {
inline constexpr std::uint16_t kElfMachine = 3;  // EM_386
inline constexpr std::uint16_t kSp = 4;
inline constexpr std::uint16_t kFp = 5;
inline constexpr std::uint16_t kPc = 8;
inline constexpr ChainPlaces kChain = {8, -4, -8};
inline constexpr std::array<std::string_view, 10> kNames = {"eax", "ecx", "edx", "ebx", "esp",
                                                            "ebp", "esi", "edi", "eip", "eflags"};
}  // namespace bits32

}  // namespace whocall::x86
