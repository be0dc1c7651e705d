// What is known of single addresses, whatever the stack above them: which strategy has a rule
// there, and how the calls before return addresses go. Found once by the full walk, and kept by pc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rules/compact_rule.h"
#include "unwind/backtrace.h"
#include "unwind/judge/judge.h"
#include "unwind/rows/row.h"

namespace whocall {

// A pc that was interrupted has other rules than the same one as a return address.
struct CodePoint {
  Address pc = 0;
  bool interrupted = false;

  [[nodiscard]] std::uint64_t key() const { return interrupted ? ~pc : pc; }
};

// What is to be done at a pc, in a line of the cache.
struct alignas(64) StepFact {
  enum class Kind : std::uint8_t {
    nothing,  // nothing is known
    step,     // by the rule
    end,      // nobody called
    end_row,  // nobody called, says the rule, which has a CFA all the same
  };

  std::uint64_t key = 0;
  Address caller = 0;  // that the last known call came from, as most often it will again
  rules::CompactRule rule{};
  Kind kind = Kind::nothing;
  Trust trust = Trust::cfi;
  CallMatch call = CallMatch::no_call;  // of `caller`
  std::uint16_t why = 0;                // nobody called: which of the reasons
};

class StepFacts {
 public:
  explicit StepFacts(const Architecture& arch);

  // False where no step of this instruction set is simple enough.
  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] const rules::StepLayout& layout() const { return layout_; }
  // The one register besides the stack pointer that steps follow.
  [[nodiscard]] Register frame_pointer() const {
    return arch_.frame.chain ? arch_.frame.chain->base : arch_.registers.fp;
  }

  // They hang on the strategies that are switched on.
  void forget_steps();

  // Null when nothing is known. Lives until the next fact is learned.
  [[nodiscard]] const StepFact* at(CodePoint point) const {
    const StepFact& known = steps_[place_of(point.key())];
    return known.key == point.key() && known.kind != StepFact::Kind::nothing ? &known : nullptr;
  }
  // How the call before `caller` relates to the function of `callee`, whose fact is `at`;
  // CallMatch::no_call when that is not known.
  [[nodiscard]] CallMatch call(const StepFact& at, Address caller) const {
    if (at.caller == caller) {
      return at.call;
    }
    const Call& known = calls_[place_of(at.key + kMixer * caller)];
    if (known.callee == at.key && known.caller == caller) {
      return known.match;
    }
    const bool blind = caller != 0 && blind_calls_[place_of(caller)] == caller;
    return blind ? CallMatch::unknown : CallMatch::no_call;
  }

  // Why nobody called, as a Stop has it.
  [[nodiscard]] const std::string& why(const StepFact& end) const { return reasons_[end.why]; }

  // `row` was found by a strategy of `trust`, where it will be found again.
  void learn_step(CodePoint point, const UnwindRow& row, Trust trust);
  // Nobody called, and so it will be again; `row` where that says so.
  void learn_end(CodePoint point, const UnwindRow* row, const std::string& why);
  void learn_call(CodePoint callee, Address caller, CallMatch match);
  // The call before `caller` may go anywhere, whoever the callee is.
  void learn_blind_call(Address caller) { blind_calls_[place_of(caller)] = caller; }

 private:
  static constexpr unsigned kPlacesLog = 12;
  static constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio

  struct Call {
    std::uint64_t callee = 0;
    Address caller = 0;
    CallMatch match = CallMatch::no_call;
  };

  static std::size_t place_of(std::uint64_t key) { return key * kMixer >> (64U - kPlacesLog); }
  void keep(CodePoint point, const StepFact& fact);
  [[nodiscard]] std::optional<rules::CompactRule> compact_cfa(const UnwindRow& row) const;
  [[nodiscard]] std::optional<rules::CompactRule> compact(const UnwindRow& row) const;
  [[nodiscard]] bool note(const NamedRule& named, rules::CompactRule& rule) const;

  const Architecture& arch_;
  rules::StepLayout layout_;
  bool usable_ = false;
  std::vector<StepFact> steps_;  // by a hash, each in the place of another
  std::vector<Call> calls_;      // likewise
  std::vector<Address> blind_calls_;
  std::vector<std::string> reasons_;
};

}  // namespace whocall
