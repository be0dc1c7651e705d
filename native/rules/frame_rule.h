// What a walk needs that keeps the program counter, the stack pointer, the frame pointer and, where
// calls leave the return address in a register, that one: a rule in a few bytes, and its step.
//
//   CFA          = sp + cfa_offset, fp + cfa_offset, or *(fp + cfa_offset)
//   caller's pc  = *(CFA + return_slot), or the link register
//   caller's sp  = CFA
//   caller's fp  = *(CFA + fp_slot), *(fp + fp_slot), the callee's, or unknown
#pragma once

#include <cstdint>

namespace whocall::rules {

struct FrameRule {
  enum class Cfa : std::uint8_t { none, from_sp, from_fp, stored_at_fp };
  enum class Return : std::uint8_t { outermost, stored, in_link };
  enum class Fp : std::uint8_t { same, stored, lost, stored_at_fp };

  Cfa cfa = Cfa::none;  // none: no rule
  Return ret = Return::outermost;
  Fp fp = Fp::same;
  bool signal_frame = false;  // the interrupted registers lie in a context; all else is empty
  bool by_analysis = false;   // no compiler wrote it
  bool from_disk = false;  // no table that is loaded holds it: it may be wrong, or mean other code
  std::int32_t cfa_offset = 0;   // bytes
  std::int32_t return_slot = 0;  // bytes from the CFA
  std::int32_t fp_slot = 0;      // bytes from the CFA, or from the frame pointer

  friend bool operator==(const FrameRule&, const FrameRule&) = default;
};

// The same in twelve bytes, as caches keep it; of frames up to 32 KiB, which nearly all are.
struct ShortRule {
  // The CFA a register and an offset, the return address on the stack, the frame pointer there too
  // or not touched.
  static constexpr std::uint8_t kPlain = 0x80;
  // A plain one that is no more than the chain of frame pointers: nothing of where the caller's
  // words lie need be read from the rule, so that no processor waits for it.
  static constexpr std::uint8_t kChained = 0x40;
  static constexpr auto kWord = static_cast<std::int32_t>(sizeof(std::uintptr_t));

  std::int32_t cfa_offset = 0;   // bytes
  std::int16_t return_slot = 0;  // bytes from the CFA
  std::int16_t fp_slot = 0;      // bytes from the CFA, or from the frame pointer
  std::uint8_t kind = 0;  // bits 0 to 6: cfa, ret, fp, signal_frame or, of a plain one, kChained
  bool by_analysis = false;
  bool from_disk = false;  // never plain: a word that it leads to may be missing

  [[nodiscard]] bool is_plain() const { return kind >= kPlain; }
  [[nodiscard]] bool is_chained() const { return kind >= (kPlain | kChained); }
  [[nodiscard]] bool is_outermost() const {
    return !is_plain() && kind != 0 && (kind & 0x4cU) == 0;
  }
  [[nodiscard]] bool from_fp() const { return (kind & 2U) != 0; }       // of a plain one
  [[nodiscard]] bool fp_stored() const { return (kind & 0x10U) != 0; }  // of a plain one
};

// False where it does not fit.
inline bool shortened(const FrameRule& rule, ShortRule& result) {
  const auto fits = [](std::int32_t value) { return value == static_cast<std::int16_t>(value); };
  if (!fits(rule.return_slot) || !fits(rule.fp_slot)) {
    return false;
  }
  result.cfa_offset = rule.cfa_offset;
  result.return_slot = static_cast<std::int16_t>(rule.return_slot);
  result.fp_slot = static_cast<std::int16_t>(rule.fp_slot);
  result.by_analysis = rule.by_analysis;
  result.from_disk = rule.from_disk;
  result.kind = static_cast<std::uint8_t>(
      static_cast<unsigned>(rule.cfa) | static_cast<unsigned>(rule.ret) << 2U |
      static_cast<unsigned>(rule.fp) << 4U | static_cast<unsigned>(rule.signal_frame) << 6U);
  const bool plain = (rule.cfa == FrameRule::Cfa::from_sp || rule.cfa == FrameRule::Cfa::from_fp) &&
                     rule.ret == FrameRule::Return::stored &&
                     (rule.fp == FrameRule::Fp::same || rule.fp == FrameRule::Fp::stored) &&
                     !rule.from_disk;
  const bool chained =
      plain && rule.cfa == FrameRule::Cfa::from_fp && rule.fp == FrameRule::Fp::stored &&
      rule.cfa_offset == 2 * ShortRule::kWord && rule.return_slot == -ShortRule::kWord &&
      rule.fp_slot == -2 * ShortRule::kWord;
  result.kind |= plain ? ShortRule::kPlain : 0;
  result.kind |= chained ? ShortRule::kChained : 0;
  return true;
}

inline FrameRule lengthened(const ShortRule& rule) {
  FrameRule result;
  result.cfa = static_cast<FrameRule::Cfa>(rule.kind & 3U);
  result.ret = static_cast<FrameRule::Return>(rule.kind >> 2U & 3U);
  result.fp = static_cast<FrameRule::Fp>(rule.kind >> 4U & 3U);
  result.signal_frame = !rule.is_plain() && (rule.kind & 0x40U) != 0;
  result.cfa_offset = rule.cfa_offset;
  result.return_slot = rule.return_slot;
  result.fp_slot = rule.fp_slot;
  result.by_analysis = rule.by_analysis;
  result.from_disk = rule.from_disk;
  return result;
}

// Where a walk stands.
struct FramePoint {
  std::uintptr_t pc = 0;
  std::uintptr_t sp = 0;
  std::uintptr_t fp = 0;
  std::uintptr_t link = 0;
  bool fp_known = true;
  bool link_known = false;  // only of an interrupted frame, and of one that has called nobody
};

// Leads from `at` to its caller. `read(address, value)` reads a word of the stack, or is false.
// False where the rule needs what is not known, where a word cannot be read, and where the stack
// would not shrink.
template <typename Read>
inline bool step(const FrameRule& rule, std::uintptr_t code_mask, const Read& read,
                 FramePoint& at) {
  const auto plus = [](std::uintptr_t base, std::int32_t offset) {
    return base + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(offset));
  };
  FramePoint next;
  std::uintptr_t cfa = plus(rule.cfa == FrameRule::Cfa::from_sp ? at.sp : at.fp, rule.cfa_offset);
  if (rule.cfa != FrameRule::Cfa::from_sp && !at.fp_known) {
    return false;
  }
  if (rule.cfa == FrameRule::Cfa::stored_at_fp && !read(cfa, cfa)) {
    return false;
  }
  // A leaf on a machine with a link register may have no frame at all.
  if (cfa < at.sp || (cfa == at.sp && rule.ret != FrameRule::Return::in_link)) {
    return false;
  }
  next.sp = cfa;
  if (rule.ret == FrameRule::Return::in_link) {
    if (!at.link_known) {
      return false;
    }
    next.pc = at.link;
  } else if (rule.ret != FrameRule::Return::stored || !read(plus(cfa, rule.return_slot), next.pc)) {
    return false;
  }
  next.pc &= code_mask;
  next.fp = at.fp;
  next.fp_known = at.fp_known && rule.fp != FrameRule::Fp::lost;
  if (rule.fp == FrameRule::Fp::stored || rule.fp == FrameRule::Fp::stored_at_fp) {
    const std::uintptr_t base = rule.fp == FrameRule::Fp::stored ? cfa : at.fp;
    next.fp_known = (base == cfa || at.fp_known) && read(plus(base, rule.fp_slot), next.fp);
  }
  at = next;
  return true;
}

// The same step for a plain rule, of which no word can be missing; false also where it is not
// plain.
template <typename Word>
[[gnu::always_inline]] inline bool plain_step(const ShortRule& rule, std::uintptr_t code_mask,
                                              const Word& word, FramePoint& at) {
  const auto plus = [](std::uintptr_t address, std::int32_t offset) {
    return address + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(offset));
  };
  if (rule.is_chained()) [[likely]] {
    const std::uintptr_t frame = at.fp;
    if (frame < at.sp) [[unlikely]] {
      return false;
    }
    at.pc = word(plus(frame, ShortRule::kWord)) & code_mask;
    at.fp = word(frame);
    at.sp = plus(frame, 2 * ShortRule::kWord);
    return true;
  }
  const std::uintptr_t cfa = plus(rule.from_fp() ? at.fp : at.sp, rule.cfa_offset);
  if (!rule.is_plain() || cfa <= at.sp) [[unlikely]] {
    return false;
  }
  at.pc = word(plus(cfa, rule.return_slot)) & code_mask;
  if (rule.fp_stored()) {
    at.fp = word(plus(cfa, rule.fp_slot));
  }
  at.sp = cfa;
  return true;
}

}  // namespace whocall::rules
