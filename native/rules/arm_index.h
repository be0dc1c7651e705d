// ARM's table of how functions are unwound (.ARM.exidx, .ARM.extab), carried out on registers: in a
// process that asks about itself, where nothing may be allocated and everything lies mapped.
// Source: "Exception Handling ABI for the Arm Architecture", 7 to 10.
#pragma once

#include <array>
#include <cstdint>

#include "rules/byte_cursor.h"

namespace whocall::rules {

struct ArmIndex {
  ByteSpan mapped;            // what may be read, index and tables among it
  std::uint64_t begin = 0;    // address of the index
  std::uint64_t entries = 0;  // of 8 bytes each
};

// r0 to r15; bit i of `known` tells of register i.
struct ArmRegisters {
  std::array<std::uint32_t, 16> values{};
  std::uint32_t known = 0;
};

inline constexpr unsigned kArmSp = 13;
inline constexpr unsigned kArmLink = 14;
inline constexpr unsigned kArmPc = 15;

// The bytes that say how the function around an address is unwound.
struct ArmInstructions {
  std::array<std::uint8_t, 64> bytes{};
  std::uint32_t count = 0;
};

// False where no entry covers `address`, where it says that nothing is known (EXIDX_CANTUNWIND),
// and where its table is damaged or has more instructions than any compiler writes.
bool find_instructions(const ArmIndex& index, std::uint64_t address, ArmInstructions& found);

// Carries instructions out. `read(address, value)` reads a word of the stack, or is false. False
// where a word cannot be read, a register is not known, or an instruction is reserved; `registers`
// are then as they were.
template <typename Read>
bool unwind(const ArmInstructions& instructions, const Read& read, ArmRegisters& registers);

namespace arm_index {

// What one instruction does.
struct Effect {
  enum class Kind : std::uint8_t { move, pop, set_sp, skip, finish, refuse };
  Kind kind = Kind::refuse;
  std::int32_t amount = 0;      // bytes that the stack pointer moves; the register for `set_sp`
  std::uint32_t registers = 0;  // bit i: register i is popped
};

// The instruction at `at`, which then lies behind it.
Effect decode(const ArmInstructions& instructions, std::uint32_t& at);

template <typename Read>
bool pop(std::uint32_t mask, const Read& read, ArmRegisters& all, std::uint32_t& sp) {
  bool sp_popped = false;
  std::uint32_t new_sp = 0;
  for (unsigned i = 0; i < all.values.size(); ++i) {
    if ((mask >> i & 1U) == 0) {
      continue;
    }
    std::uintptr_t word = 0;
    if (!read(sp, word)) {
      return false;
    }
    sp += 4;
    sp_popped = sp_popped || i == kArmSp;
    (i == kArmSp ? new_sp : all.values.data()[i]) = static_cast<std::uint32_t>(word);
    all.known |= 1U << i;
  }
  sp = sp_popped ? new_sp : sp;
  return true;
}

}  // namespace arm_index

template <typename Read>
bool unwind(const ArmInstructions& instructions, const Read& read, ArmRegisters& registers) {
  using arm_index::Effect;
  ArmRegisters all = registers;
  std::uint32_t sp = all.values.data()[kArmSp];
  all.known &= ~(1U << kArmPc);
  for (std::uint32_t at = 0; at < instructions.count;) {
    const Effect effect = arm_index::decode(instructions, at);
    if (effect.kind == Effect::Kind::finish) {
      break;
    }
    switch (effect.kind) {
      case Effect::Kind::move:
        sp += static_cast<std::uint32_t>(effect.amount);
        break;
      case Effect::Kind::pop:
        if (!arm_index::pop(effect.registers, read, all, sp)) {
          return false;
        }
        break;
      case Effect::Kind::set_sp:
        if ((all.known >> effect.amount & 1U) == 0) {
          return false;
        }
        sp = all.values.data()[effect.amount];
        break;
      case Effect::Kind::skip:
        break;
      default:
        return false;
    }
  }
  if ((all.known >> kArmPc & 1U) == 0) {
    if ((all.known >> kArmLink & 1U) == 0) {
      return false;
    }
    all.values.data()[kArmPc] = all.values.data()[kArmLink];
  }
  all.values.data()[kArmSp] = sp;
  registers = all;
  return true;
}

}  // namespace whocall::rules
