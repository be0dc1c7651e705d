#include "symbols/signatures/build_pairs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "base/interrupt.h"
#include "symbols/signatures/pair_order.h"
#include "symbols/signatures/pair_votes.h"

namespace whocall {
namespace {

// Bytes that are proof where nothing else has the code.
constexpr std::uint32_t kAloneInBuilds = 64;
// What a reference to what is known is worth, and to lie between the same neighbours, in bytes.
constexpr std::uint32_t kSameReference = 12;
constexpr std::uint32_t kSameGap = 24;
// So many references that lead elsewhere weigh as much as one that leads where it should.
constexpr std::uint32_t kOthersAllowed = 4;
// How alike two must be, when something else says that they are the same function, and how many of
// their bytes must tell something.
constexpr double kAlikeIfTwoSay = 0.35;
constexpr double kAlikeIfOneSays = 0.5;
constexpr double kAlikeInGap = 0.5;
constexpr double kClearly = 0.2;  // in a gap: and by this much more than any other there
constexpr std::uint32_t kLeastAlike = 24;
constexpr std::uint32_t kLargestWrapper = 32;  // bytes that tell something
constexpr unsigned kMostPairRounds = 40;
// How often all functions of the program, with their references, may be compared in gaps.
constexpr std::uint64_t kMostComparisons = 64;
constexpr std::uint64_t kComparisonCost = 16;  // of two sketches, in references

class Pairing {
 public:
  Pairing(const LinkedBuild& known, const LinkedBuild& program)
      : state_(known, program), wrappers_{wrappers_of(Side::known), wrappers_of(Side::program)} {}

  std::vector<BuildPair> run(std::span<const IndexPair> sure) {
    for (const auto& [known, program] : sure) {
      if (is_open(known, program)) {
        state_.join(known, program, PairProof::given);
      }
    }
    for (unsigned round = 0; round < kMostPairRounds; ++round) {
      check_interrupt();
      const std::size_t before = state_.count();
      order_.emplace(state_);
      accept_same_code();
      accept_voted();
      if (state_.count() == before) {
        accept_between();
      }
      if (state_.count() == before) {
        break;
      }
    }
    drop_contradicted();
    return found();
  }

 private:
  [[nodiscard]] bool is_open(std::uint32_t known, std::uint32_t program) const {
    return state_.partner(Side::known, known) == kNoPair &&
           state_.partner(Side::program, program) == kNoPair;
  }

  [[nodiscard]] bool has_rivals(std::uint64_t code) const {
    return state_.with_code(Side::known, code) > 1 || state_.with_code(Side::program, code) > 1;
  }

  [[nodiscard]] bool is_contradicted(std::uint32_t known, std::uint32_t program) const {
    const auto agreement = state_.agreement(known, program);
    return agreement.other * kOthersAllowed > agreement.same;
  }

  void join_all(const std::vector<IndexPair>& found, PairProof proof) {
    for (const auto& [known, program] : found) {
      if (is_open(known, program)) {
        state_.join(known, program, state_.same_code(known, program) ? PairProof::code : proof);
      }
    }
  }

  // --- the same code ---

  struct Twins {
    std::uint32_t known = 0;
    std::uint32_t program = 0;
    std::uint32_t on_known = 0;
    std::uint32_t on_program = 0;
  };

  // Its code, and what it refers to as far as that is known.
  [[nodiscard]] std::uint64_t key_of(Side side, std::uint32_t index) const {
    std::uint64_t key = state_.code_of(side, index);
    for (const LinkedReference& each : state_.references(side, index)) {
      key = mixed(key, state_.meaning(side, each));
    }
    return key;
  }

  void accept_same_code() {
    std::unordered_map<std::uint64_t, Twins> twins;
    for (std::uint32_t i = 0; i < state_.size(Side::known); ++i) {
      if (state_.partner(Side::known, i) == kNoPair) {
        Twins& entry = twins[key_of(Side::known, i)];
        entry.known = i;
        ++entry.on_known;
      }
    }
    std::vector<std::uint64_t> keys;
    for (std::uint32_t i = 0; i < state_.size(Side::program); ++i) {
      const bool is_paired = state_.partner(Side::program, i) != kNoPair;
      const auto entry = is_paired ? twins.end() : twins.find(key_of(Side::program, i));
      if (entry != twins.end() && entry->second.on_program++ == 0) {
        entry->second.program = i;
        keys.push_back(entry->first);
      }
    }
    std::vector<IndexPair> found;
    for (const std::uint64_t key : keys) {
      const Twins& each = twins.at(key);
      if (each.on_known == 1 && each.on_program == 1 && is_enough(each.known, each.program)) {
        found.emplace_back(each.known, each.program);
      }
    }
    join_all(found, PairProof::code);
  }

  [[nodiscard]] bool is_enough(std::uint32_t known, std::uint32_t program) const {
    const LinkedFunction& function = state_.function(Side::known, known);
    const auto agreement = state_.agreement(known, program);
    const std::uint64_t worth = std::uint64_t{function.weight} + kSameReference * agreement.same +
                                (order_->in_one_gap(known, program) ? kSameGap : 0);
    return agreement.other * kOthersAllowed <= agreement.same && worth >= kAloneInBuilds &&
           (!has_rivals(function.code) || agreement.same > 0);
  }

  // --- what refers to it ---

  void accept_voted() {
    const auto counts = count_votes(state_, Voters::all);
    PairOrder::Marks told{std::vector<bool>(state_.size(Side::known)),
                          std::vector<bool>(state_.size(Side::program))};
    for (const VoteCount& each : counts) {
      if (each.is_unanimous() && state_.same_code(each.known, each.program)) {
        told[0][each.known] = true;
        told[1][each.program] = true;
      }
    }
    std::vector<IndexPair> found;
    for (const VoteCount& each : counts) {
      if (each.wins() && is_open(each.known, each.program) && convinces(each, told)) {
        found.emplace_back(each.known, each.program);
      }
    }
    join_all(found, PairProof::references);
  }

  // Of several with the same code in one gap one voice tells each, but only all together: where a
  // call leads from one to the other now, one of them is left that nobody speaks of.
  [[nodiscard]] bool convinces(const VoteCount& votes, const PairOrder::Marks& told) const {
    const std::uint32_t known = votes.known;
    const std::uint32_t program = votes.program;
    if (is_contradicted(known, program)) {
      return false;
    }
    if (state_.same_code(known, program)) {
      return !has_rivals(state_.code_of(Side::known, known)) ||
             (votes.is_unanimous() &&
              (votes.voices > 1 || order_->are_alone_in_gap(known, program, told)));
    }
    return votes.is_unanimous() && may_be_alike(known, program) &&
           state_.likeness(known, program) >= (votes.voices > 1 ? kAlikeIfTwoSay : kAlikeIfOneSays);
  }

  // Whether so much of them is code, and about as much, that a likeness says something, and neither
  // has the code of another function in the other build.
  [[nodiscard]] bool may_be_alike(std::uint32_t known, std::uint32_t program) const {
    const std::uint64_t left = state_.function(Side::known, known).weight;
    const std::uint64_t right = state_.function(Side::program, program).weight;
    return std::min(left, right) >= kLeastAlike &&
           std::min(left, right) * 3 >= std::max(left, right) * 2 &&
           state_.with_code(Side::program, state_.code_of(Side::known, known)) == 0 &&
           state_.with_code(Side::known, state_.code_of(Side::program, program)) == 0;
  }

  // --- between neighbours ---

  void accept_between() {
    std::vector<IndexPair> found;
    for (const PairOrder::Gap& gap : order_->gaps()) {
      check_interrupt();
      match_gap(gap, found);
    }
    join_all(found, PairProof::place);
  }

  // Two that are far more alike than either is to any other there.
  void match_gap(const PairOrder::Gap& gap, std::vector<IndexPair>& found) {
    const std::size_t width = gap.program.size();
    const std::uint64_t cost = cost_of(gap);
    if (cost > left_) {
      return;
    }
    left_ -= cost;
    std::vector<double> alike;
    for (const std::uint32_t known : gap.known) {
      for (const std::uint32_t program : gap.program) {
        alike.push_back(gap_likeness(known, program));
      }
    }
    for (std::size_t i = 0; i < alike.size(); ++i) {
      if (alike[i] < kAlikeInGap) {
        continue;
      }
      const std::uint32_t known = gap.known[i / width];
      const std::uint32_t program = gap.program[i % width];
      if (stands_out(alike, width, i) && !is_contradicted(known, program)) {
        found.emplace_back(known, program);
      }
    }
  }

  // Whether no other one of its row and of its column comes near it.
  static bool stands_out(std::span<const double> alike, std::size_t width, std::size_t at) {
    const auto is_rival = [&](std::size_t other) {
      return other != at && alike[other] + kClearly > alike[at];
    };
    const std::size_t row = at / width * width;
    for (std::size_t other = row; other < row + width; ++other) {
      if (is_rival(other)) {
        return false;
      }
    }
    for (std::size_t other = at % width; other < alike.size(); other += width) {
      if (is_rival(other)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::uint64_t cost_of(const PairOrder::Gap& gap) const {
    std::uint64_t known = 0;
    std::uint64_t program = 0;
    for (const std::uint32_t each : gap.known) {
      known += kComparisonCost + state_.references(Side::known, each).size();
    }
    for (const std::uint32_t each : gap.program) {
      program += state_.references(Side::program, each).size();
    }
    return known * gap.program.size() + program * gap.known.size();
  }

  [[nodiscard]] double gap_likeness(std::uint32_t known, std::uint32_t program) const {
    return state_.same_code(known, program) ? 1.0
           : !may_be_alike(known, program)  ? 0.0
                                            : state_.likeness(known, program);
  }

  // --- the end ---

  // Folklore. Situation: a function becomes the inner part of a new one, which has its name from
  // then on. Example: zstd's ZSTD_compressEnd calls in 1.5.7 ZSTD_compressEnd_public, which has its
  // code. Remedy: what has more functions around it that only call it than it had in the other
  // build may have lost its name to one of them.
  [[nodiscard]] std::vector<std::uint32_t> wrappers_of(Side side) const {
    std::vector<std::uint32_t> found(state_.size(side));
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      const auto references = state_.references(side, i);
      if (state_.function(side, i).weight <= kLargestWrapper && references.size() == 1 &&
          references.front().kind == LinkedKind::function) {
        ++found[references.front().value];
      }
    }
    return found;
  }

  // Pairs whose references, or references to which by the same code, lead elsewhere more often than
  // to each other.
  // Folklore. Situation: two functions have changed places. Example: first() and second() of which
  // each has the other's code in the next build, while main calls them as ever. Remedy: what main
  // says and what their code says contradict each other, so neither counts.
  void drop_contradicted() {
    bool changed = true;
    for (unsigned round = 0; changed && round < kMostPairRounds; ++round) {
      check_interrupt();
      std::vector<std::int64_t> against(state_.size(Side::known));
      for (const VoteCount& each : count_votes(state_, Voters::same_code)) {
        const std::uint32_t other = state_.partner(Side::program, each.program);
        const bool agrees = state_.partner(Side::known, each.known) == each.program;
        against[each.known] += agrees ? -std::int64_t{each.voices} : std::int64_t{each.voices};
        if (!agrees && other != kNoPair) {
          against[other] += each.voices;
        }
      }
      changed = false;
      for (std::uint32_t i = 0; i < state_.size(Side::known); ++i) {
        const std::uint32_t other = state_.partner(Side::known, i);
        if (other == kNoPair || state_.proof(other) == PairProof::given) {
          continue;
        }
        const auto agreement = state_.agreement(i, other);
        against[i] = agreement.other > agreement.same ? 1 : against[i];
        changed = changed || against[i] > 0;
      }
      for (std::uint32_t i = 0; i < state_.size(Side::known); ++i) {
        const std::uint32_t other = state_.partner(Side::known, i);
        if (other != kNoPair && state_.proof(other) != PairProof::given && against[i] > 0) {
          state_.part(i);
        }
      }
    }
  }

  [[nodiscard]] std::vector<BuildPair> found() const {
    std::vector<BuildPair> pairs;
    for (std::uint32_t i = 0; i < state_.size(Side::program); ++i) {
      const std::uint32_t known = state_.partner(Side::program, i);
      const bool counts = known != kNoPair && (state_.proof(i) == PairProof::given ||
                                               wrappers_[1][i] <= wrappers_[0][known]);
      pairs.push_back({counts ? known : kNoPair, state_.proof(i)});
    }
    return pairs;
  }

  PairState state_;
  std::array<std::vector<std::uint32_t>, 2> wrappers_;  // how many each function has
  std::optional<PairOrder> order_;
  // Of what comparisons in gaps may cost.
  std::uint64_t left_ = kMostComparisons * (kComparisonCost * state_.size(Side::program) +
                                            state_.reference_count(Side::program));
};

}  // namespace

std::vector<BuildPair> pair_builds(const LinkedBuild& known, const LinkedBuild& program,
                                   std::span<const IndexPair> sure) {
  return Pairing(known, program).run(sure);
}

}  // namespace whocall
