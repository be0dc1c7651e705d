// Unwinding rules in the form that nearly all frames have, a few words each, and the function that
// applies one. Freestanding: nothing is allocated, nothing is asked of the system, and no byte
// outside the given span is read.
//
//   CFA            = sp + cfa_offset, or fp + cfa_offset
//   caller's pc    = *(CFA + return_slot)
//   caller's sp    = CFA + sp_from_cfa
//   register i     = *(CFA + slots[i])    where bit i of `saved` is set
//                  = unknown              where bit i of `lost` is set
//                  = the callee's         otherwise
//
// Registers are numbered here by their place in the ABI's list of those that calls preserve.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace whocall::rules {

inline constexpr unsigned kMostRegisters = 12;

struct CompactRule {
  std::int32_t cfa_offset = 0;   // bytes
  std::int16_t return_slot = 0;  // bytes from the CFA
  std::uint16_t saved = 0;
  std::uint16_t lost = 0;
  std::int16_t lowest = 0;   // of all slots, bytes from the CFA
  std::uint16_t extent = 0;  // from there to the end of the highest, bytes
  bool by_frame_pointer = false;
  std::array<std::int16_t, kMostRegisters> slots{};  // bytes from the CFA
};

// What of an instruction set a step needs.
struct StepLayout {
  std::uint8_t word_size = 8;      // of a saved register, bytes: 4 or 8
  std::uint8_t frame_pointer = 0;  // its number among the registers
  std::int64_t sp_from_cfa = 0;    // bytes
  std::uint64_t address_mask = 0;  // addresses wrap here
  std::uint64_t code_mask = 0;     // bits of a code pointer that are address
};

// Bytes of a stack, of this machine's byte order, and their runtime addresses.
struct StackSpan {
  const std::byte* bytes = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;  // bytes

  // `address` and the word behind it must lie inside.
  [[nodiscard]] std::uint64_t word(std::uint64_t address, unsigned word_size) const {
    const std::byte* const place = bytes + (address - begin);
    if (word_size == 8) {
      std::uint64_t value = 0;
      std::memcpy(&value, place, sizeof value);
      return value;
    }
    std::uint32_t value = 0;
    std::memcpy(&value, place, sizeof value);
    return value;
  }
};

// Of an activation what the next steps cannot do without.
struct StackPoint {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint64_t fp = 0;
  bool fp_known = false;
};

// False where the rule needs a register that is not known.
inline bool find_cfa(const CompactRule& rule, const StackPoint& at, std::uint64_t& cfa) {
  const std::uint64_t base = rule.by_frame_pointer ? at.fp : at.sp;
  cfa = base + static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
  return !rule.by_frame_pointer || at.fp_known;
}

// Leads from `at` to its caller. False, with `at` as it was, where the rule needs a register that
// is not known, or words outside the span.
inline bool step(const CompactRule& rule, const StepLayout& layout, const StackSpan& stack,
                 StackPoint& at, std::uint64_t& cfa) {
  std::uint64_t found = 0;
  if (!find_cfa(rule, at, found)) {
    return false;
  }
  const std::uint64_t low = found + static_cast<std::uint64_t>(std::int64_t{rule.lowest});
  if (stack.size < rule.extent || low - stack.begin > stack.size - rule.extent) {
    return false;
  }
  const auto slot = [&](std::int16_t offset) {
    return stack.word(found + static_cast<std::uint64_t>(std::int64_t{offset}), layout.word_size);
  };
  cfa = found;
  at.pc = slot(rule.return_slot) & layout.code_mask & layout.address_mask;
  at.sp = (found + static_cast<std::uint64_t>(layout.sp_from_cfa)) & layout.address_mask;
  const unsigned bit = 1U << layout.frame_pointer;
  if ((rule.saved & bit) != 0) {
    at.fp = slot(rule.slots[layout.frame_pointer]);
    at.fp_known = true;
  } else if ((rule.lost & bit) != 0) {
    at.fp_known = false;
  }
  return true;
}

}  // namespace whocall::rules
