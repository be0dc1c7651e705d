// ARM's table of how functions are unwound (.ARM.exidx, .ARM.extab), in memory that the caller has:
// where an entry's instructions stand and what each one says. A process that asks about itself
// carries them out on its registers; others make a row of them.
// Source: "Exception Handling ABI for the Arm Architecture", 6 to 10.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
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

// The bytes that say how the function around an address is unwound: in words, from the most
// significant byte of each on.
struct ArmInstructions {
  ByteSpan words;
  std::uint32_t next = 0;  // of the bytes of `words` the first that belongs to them,
  std::uint32_t end = 0;   // and where they end

  // False where they have ended.
  bool take(std::uint8_t& byte) {
    if (next == end) {
      return false;
    }
    const bool big = (std::endian::native == std::endian::big) != words.swapped;
    byte = std::to_integer<std::uint8_t>(words.bytes[big ? next : next ^ 3U]);
    ++next;
    return true;
  }
};

// What the second word of an entry says.
struct ArmEntry {
  enum class Kind : std::uint8_t {
    damaged,        // what the index points to cannot be read
    cannot_unwind,  // EXIDX_CANTUNWIND: no exception passes here
    inlined,        // the instructions stand in the index
    apart,          // they stand in .ARM.extab
  };
  Kind kind = Kind::damaged;
  ArmInstructions instructions;
  // Bytes from the table's start to what a language's own routine reads behind the instructions; 0:
  // no such routine.
  std::uint64_t own = 0;
};

// An offset of 31 bits from `place`, the word's own address.
constexpr std::uint64_t arm_target(std::uint32_t word, std::uint64_t place) {
  const auto distance = static_cast<std::int32_t>(word << 1U) / 2;
  return (place + static_cast<std::uint64_t>(std::int64_t{distance})) & 0xffffffffU;
}

// `word` is the entry's second one; `bytes_at(address)` is a span from an address on, as far as
// there is one.
template <typename BytesAt>
ArmEntry read_arm_entry(const ByteSpan& word, const BytesAt& bytes_at);

// False where no entry covers `address`, and where its entry has no instructions.
bool find_instructions(const ArmIndex& index, std::uint64_t address, ArmInstructions& found);

// What one instruction does.
struct ArmEffect {
  enum class Kind : std::uint8_t { move, pop, set_sp, skip, finish, refuse };
  Kind kind = Kind::refuse;
  std::int64_t amount = 0;      // bytes that the stack pointer moves; the register for `set_sp`
  std::uint32_t registers = 0;  // bit i: register i is popped, ascending
};

// The next instruction; refused where it is spare, cut off, or leaves the address space. Behind the
// last one stands "finish", whether it is written or not.
ArmEffect decode_arm(ArmInstructions& instructions);

// Carries instructions out. `read(address, value)` reads a word of the stack, or is false. False
// where a word cannot be read, a register is not known, or an instruction is reserved; `registers`
// are then as they were.
template <typename Read>
bool unwind(ArmInstructions instructions, const Read& read, ArmRegisters& registers);

namespace arm_index {

inline constexpr std::uint32_t kCannotUnwind = 1;
inline constexpr std::uint32_t kCompact = 0x80000000;  // instructions, and not an offset

// What is apart: in the compact form, or behind the address of a language's own routine.
ArmEntry read_table(const ByteSpan& table);

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

template <typename BytesAt>
ArmEntry read_arm_entry(const ByteSpan& word, const BytesAt& bytes_at) {
  ByteCursor cursor(word);
  const auto value = cursor.take<std::uint32_t>();
  ArmEntry entry;
  if (!cursor.ok()) {
    return entry;
  }
  if (value == arm_index::kCannotUnwind) {
    entry.kind = ArmEntry::Kind::cannot_unwind;
  } else if ((value & arm_index::kCompact) == 0) {
    entry = arm_index::read_table(bytes_at(arm_target(value, word.begin)));
  } else if ((value & 0x7f000000U) == 0) {  // the other routines' do not fit
    entry = {ArmEntry::Kind::inlined, {word, 1, 4}, 0};
  }
  return entry;
}

template <typename Read>
bool unwind(ArmInstructions instructions, const Read& read, ArmRegisters& registers) {
  using Kind = ArmEffect::Kind;
  ArmRegisters all = registers;
  std::uint32_t sp = all.values.data()[kArmSp];
  all.known &= ~(1U << kArmPc);
  ArmEffect effect = decode_arm(instructions);
  for (; effect.kind != Kind::finish; effect = decode_arm(instructions)) {
    switch (effect.kind) {
      case Kind::move:
        sp += static_cast<std::uint32_t>(effect.amount);
        break;
      case Kind::pop:
        if (!arm_index::pop(effect.registers, read, all, sp)) {
          return false;
        }
        break;
      case Kind::set_sp:
        if ((all.known >> effect.amount & 1U) == 0) {
          return false;
        }
        sp = all.values.data()[effect.amount];
        break;
      case Kind::skip:
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
