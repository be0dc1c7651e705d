// LoongArch instructions as numbers, and what is known behind them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>

#include "arch/instruction.h"
#include "arch/loongarch/facts.h"
#include "base_bytes.h"
#include "unwind/analysis/abstract_state.h"

namespace whocall::test::la {

inline constexpr Register kRa = 1;
inline constexpr Register kSp = 3;
inline constexpr Register kA0 = 4;
inline constexpr Register kFp = 22;
inline constexpr Register kS0 = 23;

inline Bytes code(std::initializer_list<std::uint32_t> words) {
  Bytes bytes;
  for (const std::uint32_t word : words) {
    bytes.u32(word);
  }
  return bytes;
}

inline std::optional<Instruction> decode(std::initializer_list<std::uint32_t> words,
                                         Address address = 0x1000) {
  return decoder_for(kLoongArch64)->decode(code(words).view(), address);
}

// The state of a called function behind straight code.
inline AbstractState behind(std::initializer_list<std::uint32_t> words) {
  AbstractState state(kLoongArch64);
  for (const std::uint32_t word : words) {
    const auto instruction = decode({word});
    REQUIRE(instruction.has_value());
    for (const Effect& effect : instruction->list()) {
      state.apply(effect);
    }
  }
  return state;
}

}  // namespace whocall::test::la
