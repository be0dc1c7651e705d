// AArch64 instructions as words, and what is known behind them.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>

#include "arch/aarch64/facts.h"
#include "arch/instruction.h"
#include "base_bytes.h"
#include "unwind/analysis/abstract_state.h"

namespace whocall::test::a64 {

inline constexpr Register kFp = 29;
inline constexpr Register kLink = 30;
inline constexpr Register kSp = 31;

inline Bytes words(std::initializer_list<std::uint32_t> all) {
  Bytes bytes;
  for (const std::uint32_t word : all) {
    bytes.u32(word);
  }
  return bytes;
}

inline std::optional<Instruction> decode(std::uint32_t word, Address address = 0x1000) {
  return decoder_for(kAArch64)->decode(words({word}).view(), address);
}

// The state of a called function behind straight code.
inline AbstractState behind(std::initializer_list<std::uint32_t> all) {
  AbstractState state(kAArch64);
  for (const std::uint32_t word : all) {
    const auto instruction = decode(word);
    REQUIRE(instruction.has_value());
    for (const Effect& effect : instruction->list()) {
      state.apply(effect);
    }
  }
  return state;
}

}  // namespace whocall::test::a64
