// RISC-V instructions as numbers, and what is known behind them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>

#include "arch/instruction.h"
#include "arch/riscv/facts.h"
#include "base_bytes.h"
#include "unwind/analysis/abstract_state.h"

namespace whocall::test::rv {

inline constexpr Register kRa = 1;
inline constexpr Register kSp = 2;
inline constexpr Register kFp = 8;
inline constexpr Register kS1 = 9;
inline constexpr Register kA0 = 10;

// Each takes the 2 bytes or the 4 that its lowest bits say.
inline Bytes code(std::initializer_list<std::uint32_t> all) {
  Bytes bytes;
  for (const std::uint32_t each : all) {
    if ((each & 3U) == 3) {
      bytes.u32(each);
    } else {
      bytes.u16(static_cast<std::uint16_t>(each));
    }
  }
  return bytes;
}

inline std::optional<Instruction> decode(std::initializer_list<std::uint32_t> all,
                                         Address address = 0x1000) {
  return decoder_for(kRiscv64)->decode(code(all).view(), address);
}

// The state of a called function behind straight code.
inline AbstractState behind(std::initializer_list<std::uint32_t> all) {
  AbstractState state(kRiscv64);
  for (const std::uint32_t each : all) {
    const auto instruction = decode({each});
    REQUIRE(instruction.has_value());
    for (const Effect& effect : instruction->list()) {
      state.apply(effect);
    }
  }
  return state;
}

}  // namespace whocall::test::rv
