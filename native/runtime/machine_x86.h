// Calls and frame pointers in the code of x86: see code_checks.h. Intel SDM, volume 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace whocall::runtime {

using CodeBytes = std::span<const std::uint8_t>;
inline constexpr std::size_t kLongestCall = 7;  // bytes, without prefixes

// Bytes of ModRM, SIB and displacement.
inline std::size_t operand_size(std::uint8_t modrm, std::uint8_t sib) {
  const unsigned mode = modrm >> 6U;
  const unsigned base = modrm & 7U;
  const bool has_sib = mode != 3 && base == 4;
  const bool is_wide = mode == 2 || (mode == 0 && (base == 5 || (has_sib && (sib & 7U) == 5)));
  return 1U + (has_sib ? 1U : 0U) + (is_wide ? 4U : 0U) + (mode == 1 ? 1U : 0U);
}

// call rel32; call *r/m of just as many bytes as there are.
inline bool ends_with_call(CodeBytes before, std::uintptr_t /*return_address*/) {
  const std::size_t size = before.size();
  if (size >= 5 && before.data()[size - 5] == 0xe8) {
    return true;
  }
  for (std::size_t length = 2; length <= kLongestCall && length <= size; ++length) {
    const std::uint8_t* const call = before.data() + size - length;
    const std::uint8_t sib = length > 2 ? call[2] : std::uint8_t{0};
    if (call[0] == 0xff && (call[1] >> 3U & 7U) == 2 && 1 + operand_size(call[1], sib) == length) {
      return true;
    }
  }
  return false;
}

// An instruction that leaves the stack pointer as it is, of those that compilers put into
// prologues; 0: it is none. Of one that is cut off the size is beyond the end.
inline std::size_t plain_size(CodeBytes code) {
  const auto byte = [code](std::size_t at) {
    return at < code.size() ? code.data()[at] : std::uint8_t{0};
  };
  constexpr std::uint8_t kSp = 4;
  constexpr bool kIs64 = sizeof(void*) == 8;
  std::size_t at = byte(0) == 0x66 || byte(0) == 0xf2 || byte(0) == 0xf3 ? 1 : 0;
  const bool is_wide = kIs64 && (byte(at) & 0xf8U) == 0x48;
  at += kIs64 && (byte(at) & 0xf0U) == 0x40 ? 1 : 0;
  const std::uint8_t modrm = byte(at + 1);
  const std::size_t operand = operand_size(modrm, byte(at + 2));
  const bool changes_sp = modrm >= 0xc0 && (modrm & 7U) == kSp;
  const bool loads_sp = (modrm >> 3U & 7U) == kSp;
  switch (byte(at)) {
    case 0x90:  // nop
      return at + 1;
    case 0x01:  // add, or, and, sub, xor, cmp, test, mov to a register or memory
    case 0x09:
    case 0x21:
    case 0x29:
    case 0x31:
    case 0x39:
    case 0x85:
    case 0x89:
      return changes_sp ? 0 : at + 1 + operand;
    case 0x03:  // the same from there, movsxd, lea
    case 0x0b:
    case 0x23:
    case 0x2b:
    case 0x33:
    case 0x3b:
    case 0x63:
    case 0x8b:
    case 0x8d:
      return loads_sp ? 0 : at + 1 + operand;
    case 0x83:  // with a constant of 8 bits, or a shift by it
    case 0xc1:
      return changes_sp ? 0 : at + 2 + operand;
    case 0x81:  // of 32 bits
    case 0xc7:
      return changes_sp ? 0 : at + 5 + operand;
    case 0x0f: {  // nop, movzx, movsx; moves and xor of vectors
      const bool is_known = modrm == 0x1f || (modrm & 0xf6U) == 0xb6 || modrm == 0x10 ||
                            modrm == 0x28 || modrm == 0x57 || modrm == 0x6e || modrm == 0x6f ||
                            modrm == 0xef;
      return is_known ? at + 2 + operand_size(byte(at + 2), byte(at + 3)) : 0;
    }
    default:  // mov of a constant
      return (byte(at) & 0xf8U) == 0xb8 ? at + (is_wide ? 9 : 5) : 0;
  }
}

// What stands before a prologue: a mark of CET; what aligns the stack, as in main, and puts the
// return address on it again. 0: none of it.
inline std::size_t opening_size(CodeBytes code) {
  constexpr std::uint8_t kPieces[][5] = {
      {4, 0x48, 0x83, 0xe4, 0xf0},  // and $-16,%rsp
      {4, 0x41, 0xff, 0x72, 0xf8},  // push -8(%r10)
      {3, 0x83, 0xe4, 0xf0, 0},     // and $-16,%esp
      {3, 0xff, 0x71, 0xfc, 0},     // push -4(%ecx)
      {4, 0xf3, 0x0f, 0x1e, 0xfa},  // endbr64
      {4, 0xf3, 0x0f, 0x1e, 0xfb},  // endbr32
  };
  for (const auto& piece : kPieces) {
    bool is_there = code.size() >= piece[0];
    for (std::size_t i = 0; is_there && i < piece[0]; ++i) {
      is_there = code.data()[i] == piece[i + 1];
    }
    if (is_there) {
      return piece[0];
    }
  }
  return 0;
}

// Whether its first push is that of the frame pointer, and the stack pointer becomes that right
// behind it. Folklore. Situation: where frame pointers are not kept, the register is one like
// others, and may be made a copy of the stack pointer. Example: gcc -O1 for the address of a
// structure at the stack's end, `mov %rsp,%rbp` behind the pushes. Remedy: the prologue alone says.
inline bool sets_frame_pointer(CodeBytes code, std::uintptr_t /*mode*/) {
  bool is_pushed = false;
  for (std::size_t at = 0; at < code.size();) {
    const CodeBytes rest = code.subspan(at);
    const std::size_t wide = sizeof(void*) == 8 && rest.size() > 2 && rest.data()[0] == 0x48;
    if (rest.size() > wide + 1) {
      const std::uint8_t* const move = rest.data() + wide;
      if ((move[0] == 0x89 && move[1] == 0xe5) || (move[0] == 0x8b && move[1] == 0xec)) {
        return is_pushed;  // mov %rsp,%rbp in either form
      }
    }
    const bool pushes = rest.data()[0] == 0x55;
    const std::size_t plain = plain_size(rest);
    const std::size_t opening = is_pushed ? 0 : opening_size(rest);
    const std::size_t size = pushes ? 1 : opening != 0 ? opening : plain;
    if (size == 0 || (pushes && is_pushed)) {
      return false;
    }
    is_pushed = is_pushed || pushes;
    at += size;
  }
  return false;
}

}  // namespace whocall::runtime
