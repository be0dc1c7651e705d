#include "unwind/walk/step_facts.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace whocall {
namespace {

constexpr Endian kHost = std::endian::native == std::endian::big ? Endian::big : Endian::little;

template <typename Small>
bool fits(std::int64_t value) {
  return value >= std::numeric_limits<Small>::min() && value <= std::numeric_limits<Small>::max();
}

// Which words the rule reads; false where they lie too far from each other.
bool set_extent(rules::CompactRule& rule, unsigned word_size) {
  rule.lowest = rule.return_slot;
  std::int32_t highest = rule.return_slot;
  for (unsigned i = 0; i < rules::kMostRegisters; ++i) {
    if ((rule.saved >> i & 1U) != 0) {
      rule.lowest = std::min(rule.lowest, rule.slots.at(i));
      highest = std::max<std::int32_t>(highest, rule.slots.at(i));
    }
  }
  const std::int32_t extent = highest - rule.lowest + static_cast<std::int32_t>(word_size);
  rule.extent = static_cast<std::uint16_t>(extent);
  return fits<std::uint16_t>(extent);
}

}  // namespace

StepFacts::StepFacts(const Architecture& arch)
    : arch_(arch),
      steps_(std::size_t{1} << kPlacesLog),
      calls_(std::size_t{1} << kPlacesLog),
      blind_calls_(std::size_t{1} << kPlacesLog) {
  const auto preserved = arch.registers.callee_saved;
  const auto fp = std::ranges::find(preserved, frame_pointer());
  usable_ = preserved.size() <= rules::kMostRegisters && fp != preserved.end() &&
            arch.abi.endian == kHost && (arch.registers.size == 4 || arch.registers.size == 8);
  if (usable_) {
    layout_ = {.word_size = arch.registers.size,
               .frame_pointer = static_cast<std::uint8_t>(fp - preserved.begin()),
               .sp_from_cfa = arch.frame.sp_from_cfa(),
               .address_mask = arch.address_mask(),
               .code_mask = arch.code.pointer_mask};
  }
}

void StepFacts::forget_steps() { std::ranges::fill(steps_, StepFact{}); }

void StepFacts::keep(CodePoint point, const StepFact& fact) {
  StepFact& kept = steps_[place_of(point.key())];
  kept = fact;
  kept.key = point.key();
}

void StepFacts::learn_call(CodePoint callee, Address caller, CallMatch match) {
  const std::uint64_t key = callee.key();
  calls_[place_of(key + kMixer * caller)] = {key, caller, match};
  StepFact& step = steps_[place_of(key)];
  if (step.key == key) {
    step.caller = caller;
    step.call = match;
  }
}

void StepFacts::learn_step(CodePoint point, const UnwindRow& row, Trust trust) {
  if (const auto rule = compact(row)) {
    keep(point, {.rule = *rule, .kind = StepFact::Kind::step, .trust = trust});
  }
}

void StepFacts::learn_end(CodePoint point, const UnwindRow* row, const std::string& why) {
  constexpr std::size_t kMostReasons = 64;  // they name modules
  const auto known = std::ranges::find(reasons_, why);
  const auto rule = row != nullptr ? compact_cfa(*row) : rules::CompactRule();
  if (!rule || (known == reasons_.end() && reasons_.size() >= kMostReasons)) {
    return;
  }
  const auto reason = static_cast<std::uint16_t>(known - reasons_.begin());
  if (known == reasons_.end()) {
    reasons_.push_back(why);
  }
  keep(point, {.rule = *rule,
               .kind = row != nullptr ? StepFact::Kind::end_row : StepFact::Kind::end,
               .why = reason});
}

std::optional<rules::CompactRule> StepFacts::compact_cfa(const UnwindRow& row) const {
  const bool by_sp = row.cfa.base == arch_.registers.sp;
  const bool by_fp = row.cfa.base == frame_pointer();
  if (row.cfa.kind != CfaRule::Kind::register_offset || (!by_sp && !by_fp) ||
      !fits<std::int32_t>(row.cfa.offset)) {
    return std::nullopt;
  }
  return rules::CompactRule{.cfa_offset = static_cast<std::int32_t>(row.cfa.offset),
                            .by_frame_pointer = by_fp};
}

// A miss where the row says more than a compact rule can.
std::optional<rules::CompactRule> StepFacts::compact(const UnwindRow& row) const {
  auto rule = compact_cfa(row);
  const RegisterRule* const back = row.rule_for(arch_.registers.return_address);
  if (!rule || row.signal_frame || row.injected || row.new_stack ||
      row.return_address != arch_.registers.return_address || back == nullptr ||
      back->kind != RegisterRule::Kind::at_cfa || !fits<std::int16_t>(back->offset)) {
    return std::nullopt;
  }
  rule->return_slot = static_cast<std::int16_t>(back->offset);
  for (const NamedRule& named : row.rules) {
    if (named.number != row.return_address && !note(named, *rule)) {
      return std::nullopt;
    }
  }
  return set_extent(*rule, arch_.registers.size) ? rule : std::nullopt;
}

// Puts the rule of one register into `rule`; false where there is no room for what it says.
bool StepFacts::note(const NamedRule& named, rules::CompactRule& rule) const {
  using Kind = RegisterRule::Kind;
  const auto preserved = arch_.registers.callee_saved;
  const auto found = std::ranges::find(preserved, named.number);
  if (found == preserved.end()) {
    // Not to be known in the caller is what becomes of all others anyway.
    return named.rule.kind == Kind::undefined && named.number != arch_.registers.sp &&
           named.number != arch_.registers.thread_pointer;
  }
  const auto index = static_cast<unsigned>(found - preserved.begin());
  const auto bit = static_cast<std::uint16_t>(1U << index);
  if (((rule.saved | rule.lost) & bit) != 0) {
    return false;  // told twice
  }
  switch (named.rule.kind) {
    case Kind::same_value:
      return true;
    case Kind::undefined:
      rule.lost |= bit;
      return true;
    case Kind::at_cfa:
      rule.saved |= bit;
      rule.slots.at(index) = static_cast<std::int16_t>(named.rule.offset);
      return fits<std::int16_t>(named.rule.offset);
    default:
      return false;
  }
}

}  // namespace whocall
