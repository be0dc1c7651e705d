// Searching the stack for the caller when no rule is known: the last resort.
//
// Folklore. Situation: code without unwind tables and without a frame pointer stands on the stack.
// Example: hand-written assembly, a C library built without tables. Half of the words on a real
// stack that follow a call instruction are leftovers of calls that have long returned, so the
// first word that looks like a return address is often a lie. Remedy: a candidate is tested by
// what follows from it. Best is one whose call goes to the very function that we came from; next
// one from which exact rules (tables, analysis) lead on over several acceptable callers; a call
// that demonstrably goes to another function speaks against it. The nearest of the best wins.
#include <algorithm>
#include <optional>

#include "unwind/strategies.h"

namespace whocall {
namespace {

constexpr std::size_t kSearchLimit = 65536;  // words looked at for a first candidate
constexpr std::size_t kBetterLimit = 256;    // words looked at for a better one after that

// Small whole numbers, added up; only their order matters.
constexpr int kLookAhead = 3;  // steps by exact rules; a point each
constexpr int kNotElsewhere = 1;
constexpr int kTrampoline = 2;  // a handler returns to the kernel's code: nothing calls that
constexpr int kTailCall = 2;
constexpr int kSameModule = 3;
constexpr int kMatches = 4;
constexpr int kBest = kNotElsewhere + kMatches + kLookAhead;

struct Candidate {
  UnwindRow row;
  int score = 0;
};

class ScanStrategy final : public Strategy {
 public:
  explicit ScanStrategy(const Architecture& arch) : arch_(arch) {}

  [[nodiscard]] std::string_view name() const override { return "scan"; }
  [[nodiscard]] Trust trust() const override { return Trust::scan; }

  const UnwindRow* find(const Activation& callee, const WalkContext& context) override {
    const auto sp = callee.registers.get(arch_.sp);
    if (!sp) {
      return nullptr;
    }
    const bool damaged = has_exact_rule(callee, context);
    const Address start = (*sp + arch_.pointer_size - 1) & ~Address{arch_.pointer_size - 1U};
    std::optional<Candidate> best;
    std::size_t limit = kSearchLimit;
    for (std::size_t i = 0; i < limit; ++i) {
      const Address at = start + i * arch_.pointer_size;
      const auto word = context.process.memory->read_unsigned(at, arch_.pointer_size, arch_.endian);
      if (!word) {
        break;
      }
      const Address target = arch_.code_address(*word);
      if (target == 0 || !context.process.is_code(target - 1)) {
        continue;
      }
      auto candidate = weigh(callee, static_cast<std::int64_t>(at - *sp), damaged, context);
      if (candidate && (!best || candidate->score > best->score)) {
        limit = best ? limit : std::min(limit, i + kBetterLimit);
        best = std::move(candidate);
        if (best->score == kBest) {
          break;
        }
      }
    }
    return best ? context.keep(std::move(best->row)) : nullptr;
  }

  [[nodiscard]] std::string explain(const Activation& callee, const UnwindRow& row,
                                    const WalkContext& context) const override {
    const Module* module = context.process.module_at(callee.pc);
    const std::int64_t skipped = row.cfa.offset - arch_.pointer_size;
    return "no rule is known for the frame below in " +
           (module != nullptr ? module->path : "code outside all modules") +
           "; a search of its stack, " + std::to_string(skipped) + " bytes up,";
  }

  [[nodiscard]] std::string remedy() const override {
    return "A file of that module with unwind tables would make it surer";
  }

 private:
  // The caller whose return address lies `distance` bytes above sp.
  std::optional<Candidate> weigh(const Activation& callee, std::int64_t distance, bool damaged,
                                 const WalkContext& context) const {
    Candidate plain{row_at(distance, false)};
    const auto proposal = apply_row(plain.row, callee, arch_, *context.process.memory);
    const auto verdict = context.judge.weigh(callee, plain.row, proposal, Trust::scan);
    if (verdict.refusal != Refusal::none) {
      return std::nullopt;
    }
    plain.score =
        verdict.trampoline ? kNotElsewhere + kTrampoline : score_of(verdict.call, damaged);
    const int steps = steps_on(proposal.caller, context);
    // Folklore: a callee that pushed the frame pointer first left it just below its return address.
    Candidate restored{row_at(distance, true), plain.score};
    const auto other = apply_row(restored.row, callee, arch_, *context.process.memory);
    const int other_steps =
        other.failure == ApplyFailure::none ? steps_on(other.caller, context) : 0;
    plain.score += steps;
    restored.score += other_steps;
    return other_steps > steps ? restored : plain;
  }

  // Folklore. Situation: a rule is known, but the return address that it leads to was overwritten,
  // and callers' frames with it. Example: a long string copied into a short buffer. Remedy: the
  // next frame that is whole called a function whose frame is gone, so a call to another function
  // does not speak against it.
  static int score_of(CallMatch match, bool damaged) {
    switch (match) {
      case CallMatch::matches:
        return kNotElsewhere + kMatches;
      case CallMatch::tail_call:
        return kNotElsewhere + kTailCall;
      case CallMatch::same_module:
        return kNotElsewhere + kSameModule;
      case CallMatch::unknown:
        return kNotElsewhere;
      case CallMatch::elsewhere:
        return damaged ? kNotElsewhere : 0;
      case CallMatch::no_call:
      case CallMatch::unreadable:
        break;
    }
    return 0;
  }

  static bool has_exact_rule(const Activation& callee, const WalkContext& context) {
    return std::ranges::any_of(context.exact, [&](Strategy* strategy) {
      return strategy->find(callee, context) != nullptr;
    });
  }

  // How many steps in a row exact rules lead on from `caller`, each to an acceptable caller that a
  // call precedes; the end of the stack counts for all that are left.
  static int steps_on(Activation caller, const WalkContext& context) {
    for (int steps = 0; steps < kLookAhead; ++steps) {
      const auto next = exact_step(caller, context);
      if (next.judgement.refusal == Refusal::end_of_stack) {
        return kLookAhead;
      }
      // Where the code is not at hand nothing speaks against the step.
      const bool doubtful = next.judgement.call == CallMatch::no_call && !next.judgement.put_there;
      if (next.judgement.refusal != Refusal::none ||
          (doubtful && !next.judgement.evidence.has(Evidence::signal))) {
        return steps;
      }
      caller = next.caller;
    }
    return kLookAhead;
  }

  struct Step {
    Activation caller;
    Judgement judgement{.refusal = Refusal::no_cfa};
  };

  static Step exact_step(const Activation& callee, const WalkContext& context) {
    Step step;
    for (Strategy* strategy : context.exact) {
      const UnwindRow* row = strategy->find(callee, context);
      if (row == nullptr) {
        continue;
      }
      const auto proposal = apply_row(*row, callee, *context.process.arch, *context.process.memory);
      step.judgement = context.judge.weigh(callee, *row, proposal, strategy->trust());
      step.caller = proposal.caller;
      if (step.judgement.refusal == Refusal::none ||
          step.judgement.refusal == Refusal::end_of_stack) {
        break;
      }
    }
    return step;
  }

  [[nodiscard]] UnwindRow row_at(std::int64_t distance, bool restore_fp) const {
    const auto word = static_cast<std::int64_t>(arch_.pointer_size);
    UnwindRow row;
    row.cfa = CfaRule::at(arch_.sp, distance + word);
    row.return_address = arch_.return_address;
    row.rules.push_back({arch_.return_address, RegisterRule::stored_at_cfa(-word)});
    if (restore_fp) {
      row.rules.push_back({arch_.fp, RegisterRule::stored_at_cfa(-2 * word)});
    }
    return row;
  }

  const Architecture& arch_;
};

}  // namespace

std::unique_ptr<Strategy> make_scan_strategy(const Architecture& arch) {
  return std::make_unique<ScanStrategy>(arch);
}

}  // namespace whocall
