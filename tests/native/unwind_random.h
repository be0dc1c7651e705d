// Programs and stacks at random: what holds for every stack is to hold for these. A seed tells
// which.
#pragma once

#include <random>
#include <vector>

#include "unwind_process.h"

namespace whocall::test {

inline constexpr Address kCode = 0x401000;
inline constexpr Address kStacks[] = {0x600000, 0x7ffc0000};
inline constexpr std::size_t kWords = 96;
inline constexpr std::size_t kFunctions = 8;
inline constexpr std::size_t kFunctionSize = 0x100;

using Random = std::mt19937;

enum Rules : std::uint8_t { kPlain, kManyRules };

// Rules that save and lose registers, and that keep the return address in odd places.
inline void add_rules(const Architecture& arch, Random& random, std::vector<Bytes>& programs) {
  const unsigned word = arch.registers.size;
  const auto preserved = arch.registers.callee_saved;
  for (int more = 0; more < 6; ++more) {
    const bool by_fp = random() % 3 == 0;
    Bytes rows{0x0c};
    rows.uleb(by_fp ? arch.registers.fp : arch.registers.sp).uleb(word * (2 + random() % 3));
    if (random() % 4 == 0) {
      rows.u8(0x80U | arch.registers.return_address).uleb(1 + random() % 3);
    }
    for (const Register number : preserved) {
      switch (random() % 4) {
        case 0:
          rows.u8(0x80U | number).uleb(2 + random() % 2);
          break;
        case 1:
          rows.u8(0x07).uleb(number);  // undefined
          break;
        case 2:
          rows.u8(0x08).uleb(number);  // the same value
          break;
        default:
          break;
      }
    }
    programs.push_back(rows);
  }
}

// Functions with rows of several kinds, every second one without; calls between all of them.
inline TestProcess random_code(const Architecture& arch, Random& random, Rules kind) {
  FrameTable table(arch);
  const auto cie = table.usual_cie();
  TestProcess process(arch);
  process.code(kCode, kFunctions * kFunctionSize);
  for (std::size_t i = 0; i < kFunctions; ++i) {
    const Address begin = kCode + i * kFunctionSize;
    for (unsigned k = 1; k <= 4; ++k) {
      process.call(begin + 0x20 * k, kCode + random() % kFunctions * kFunctionSize);
    }
    std::vector<Bytes> programs = {
        Bytes{0x0e}.uleb(arch.abi.pointer_size * (1 + random() % 6)),
        Bytes{0x0c}
            .uleb(arch.registers.fp)
            .uleb(2U * arch.abi.pointer_size)
            .u8(0x80U | arch.registers.fp)
            .uleb(2),
        Bytes{0x0f, 3}.u8(0x70U + arch.registers.sp).sleb(arch.abi.pointer_size).u8(0x06),
    };
    if (kind == kManyRules) {
      add_rules(arch, random, programs);
    }
    if (i % 2 == 0 || kind == kManyRules) {
      table.fde(cie, {begin, begin + kFunctionSize}, programs[random() % programs.size()]);
    }
  }
  const AddressRange code{kCode, kCode + kFunctions * kFunctionSize};
  process.module("/bin/random", {code, kCode + 7 * kFunctionSize, table.bytes()}, true);
  const auto& trampolines = arch.os.signal_trampolines;
  Bytes trampoline;
  for (const std::uint8_t byte : trampolines[random() % trampolines.size()].code) {
    trampoline.u8(byte);
  }
  process.put(kCode + 5 * kFunctionSize + 0x90, trampoline);
  return process;
}

// What stacks are made of: return addresses, stack addresses, code, numbers, noise.
inline std::uint64_t random_word(const Architecture& arch, Random& random) {
  const Address function = kCode + random() % kFunctions * kFunctionSize;
  const std::uint64_t noise = (std::uint64_t{random()} << 32U) | random();
  switch (random() % 8) {
    case 0:
    case 1:
    case 2:
      return function + 0x20 * (1 + random() % 4);
    case 3:
      return kStacks[random() % 2] + random() % kWords * arch.abi.pointer_size;
    case 4:
      return kStacks[random() % 2] + random() % (kWords * 8);
    case 5:
      return random() % 2 == 0 ? kCode + 5 * kFunctionSize + 0x90 : function + random() % 0x100;
    case 6:
      return random() % 4;
    default:
      return noise & arch.address_mask();
  }
}

}  // namespace whocall::test
