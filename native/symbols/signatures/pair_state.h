// Two builds, the pairs of functions that were found so far, and what follows from those.
#pragma once

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "symbols/signatures/linked_build.h"
#include "symbols/signatures/mixed_hash.h"

namespace whocall {

// The known build is `side` 0, the program 1.
enum class Side : std::uint8_t { known, program };

using IndexPair = std::pair<std::uint32_t, std::uint32_t>;  // (known, program)

class PairState {
 public:
  PairState(const LinkedBuild& known, const LinkedBuild& program);

  [[nodiscard]] const LinkedFunction& function(Side side, std::uint32_t index) const {
    return build(side).functions[index];
  }
  [[nodiscard]] std::uint32_t size(Side side) const {
    return static_cast<std::uint32_t>(build(side).functions.size());
  }
  [[nodiscard]] std::size_t reference_count(Side side) const {
    return build(side).references.size();
  }
  [[nodiscard]] std::span<const LinkedReference> references(Side side, std::uint32_t index) const {
    const LinkedFunction& from = function(side, index);
    return build(side).references.subspan(from.first_reference, from.references);
  }

  // The other one of its pair; kNoPair where it has none.
  [[nodiscard]] std::uint32_t partner(Side side, std::uint32_t index) const {
    return partners(side)[index];
  }
  [[nodiscard]] const std::vector<std::uint32_t>& partners(Side side) const {
    return side == Side::known ? to_program_ : to_known_;
  }
  void join(std::uint32_t known, std::uint32_t program, PairProof proof);
  void part(std::uint32_t known);
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] PairProof proof(std::uint32_t program) const { return proofs_[program]; }

  [[nodiscard]] bool same_code(std::uint32_t known, std::uint32_t program) const {
    return code_of(Side::known, known) == code_of(Side::program, program);
  }
  [[nodiscard]] std::uint64_t code_of(Side side, std::uint32_t index) const {
    return function(side, index).code;
  }
  // How many functions of a build have that code.
  [[nodiscard]] std::uint32_t with_code(Side side, std::uint64_t code) const;

  // What a reference leads to, the same number in both builds where that is known to be the same;
  // 0 where nothing is known.
  [[nodiscard]] std::uint64_t meaning(Side side, const LinkedReference& reference) const;

  // Data that the references of pairs say to be the same: replaces what was said before.
  void set_data(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& same);

  // Visits the references of a pair that stand for each other: visit(known, program).
  template <typename Visit>
  void for_each_aligned(std::uint32_t known, std::uint32_t program, Visit visit) const {
    const auto left = references(Side::known, known);
    const auto right = references(Side::program, program);
    if (same_code(known, program)) {
      for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
        visit(left[i], right[i]);
      }
      return;
    }
    for (const auto& [one, other] : aligned(left, right)) {
      visit(left[one], right[other]);
    }
  }

  struct Agreement {
    std::uint32_t same = 0;   // references that lead to what is known to be the same
    std::uint32_t other = 0;  // those of which one leads to what has another partner
  };
  [[nodiscard]] Agreement agreement(std::uint32_t known, std::uint32_t program) const;

  // How alike two functions are, 0 to 1, by their code and by what they refer to.
  [[nodiscard]] double likeness(std::uint32_t known, std::uint32_t program) const;

 private:
  using Places = std::vector<std::pair<std::size_t, std::size_t>>;

  [[nodiscard]] const LinkedBuild& build(Side side) const {
    return side == Side::known ? known_ : program_;
  }
  [[nodiscard]] Places aligned(std::span<const LinkedReference> left,
                               std::span<const LinkedReference> right) const;
  [[nodiscard]] std::vector<std::uint64_t> meanings(Side side, std::uint32_t index) const;

  LinkedBuild known_;
  LinkedBuild program_;
  std::vector<std::uint32_t> to_program_;
  std::vector<std::uint32_t> to_known_;
  std::vector<PairProof> proofs_;  // by the program's functions
  std::size_t count_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> data_to_program_;
  std::unordered_map<std::uint64_t, std::uint64_t> data_to_known_;
  std::unordered_map<std::uint64_t, IndexPair> with_code_;  // counts
};

// Indexes into a row of numbers of the longest part that ascends; O(n log n).
std::vector<std::size_t> longest_ascending(std::span<const std::size_t> row);

}  // namespace whocall
