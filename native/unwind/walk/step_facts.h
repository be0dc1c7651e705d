// What is known of single addresses, whatever the stack above them: which strategy has a rule
// there, and how the calls before return addresses go. Found once by the full walk, and kept by pc.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "rules/compact_rule.h"
#include "unwind/rows/row.h"
#include "unwind/walk/backtrace.h"
#include "unwind/walk/judge.h"

namespace whocall {

// The rule at a return address.
struct StepFact {
  Address pc = 0;
  rules::CompactRule rule;
  Trust trust = Trust::cfi;
  std::string_view strategy{};
};

class StepFacts {
 public:
  explicit StepFacts(const Architecture& arch);

  // False where no step of this instruction set is simple enough.
  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] const rules::StepLayout& layout() const { return layout_; }

  // To be called before a walk: facts hang on the strategies that are switched off.
  void begin_walk(const std::vector<std::string>& without);

  // The fact about the return address `pc`; null when none is known. Lives until the next walk.
  [[nodiscard]] const StepFact* at(Address pc) const {
    const StepFact* const known = steps_[place_of(pc)];
    return known != nullptr && known->pc == pc ? known : nullptr;
  }
  // How the call before `caller` relates to the function of the return address `callee`;
  // CallMatch::no_call when that is not known.
  [[nodiscard]] CallMatch call(Address callee, Address caller) const {
    const Call& known = calls_[place_of(callee + kMixer * caller)];
    return known.callee == callee && known.caller == caller ? known.match : CallMatch::no_call;
  }

  // `row` was found at the return address `pc` by a strategy of `trust`, where it will be found
  // again.
  void learn_step(Address pc, const UnwindRow& row, Trust trust, std::string_view strategy);
  void learn_call(Address callee, Address caller, CallMatch match) {
    calls_[place_of(callee + kMixer * caller)] = {callee, caller, match};
  }

 private:
  static constexpr unsigned kPlacesLog = 12;
  static constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  static constexpr std::size_t kMostSteps = std::size_t{1} << 16U;

  struct Call {
    Address callee = 0;
    Address caller = 0;
    CallMatch match = CallMatch::no_call;
  };

  static std::size_t place_of(std::uint64_t key) { return key * kMixer >> (64U - kPlacesLog); }
  [[nodiscard]] std::optional<rules::CompactRule> compact(const UnwindRow& row) const;
  [[nodiscard]] bool note(const NamedRule& named, rules::CompactRule& rule) const;

  const Architecture& arch_;
  rules::StepLayout layout_;
  bool usable_ = false;
  std::vector<std::string> without_;
  std::deque<StepFact> kept_;
  std::vector<const StepFact*> steps_;  // by a hash, each in the place of another
  std::vector<Call> calls_;             // likewise
};

}  // namespace whocall
