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

// mov %rsp,%rbp or its shorter brother, in either form.
inline bool sets_frame_pointer(CodeBytes code, std::uintptr_t /*mode*/) {
  for (std::size_t at = 0; at + 2 <= code.size(); ++at) {
    const std::uint8_t* const move = code.data() + at;
    if ((move[0] == 0x89 && move[1] == 0xe5) || (move[0] == 0x8b && move[1] == 0xec)) {
      return true;
    }
  }
  return false;
}

}  // namespace whocall::runtime
