// The order of the functions of two builds: which lie between the same neighbours.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "symbols/signatures/pair_state.h"

namespace whocall {

class PairOrder {
 public:
  explicit PairOrder(const PairState& state);

  // Whether the same pairs lie nearest before and behind them, of those that lie in the same order
  // in both builds; both have no partner.
  [[nodiscard]] bool in_one_gap(std::uint32_t known, std::uint32_t program) const {
    return !chain_.empty() && gaps_[0][known] == gaps_[1][program];
  }

  // Functions, by side and index.
  using Marks = std::array<std::vector<bool>, 2>;
  // The same, and nothing else in that gap has their code but what is marked.
  [[nodiscard]] bool are_alone_in_gap(std::uint32_t known, std::uint32_t program,
                                      const Marks& marked) const {
    return in_one_gap(known, program) && is_alone(Side::known, known, marked[0]) &&
           is_alone(Side::program, program, marked[1]);
  }

  // Functions without a partner between the same neighbours, on both sides some and few.
  struct Gap {
    std::vector<std::uint32_t> known;
    std::vector<std::uint32_t> program;
  };
  [[nodiscard]] std::vector<Gap> gaps() const;

 private:
  [[nodiscard]] bool is_alone(Side side, std::uint32_t index,
                              const std::vector<bool>& marked) const;
  [[nodiscard]] std::vector<std::size_t> gaps_of(Side side) const;
  [[nodiscard]] std::vector<std::uint32_t> open_between(Side side, std::uint32_t begin,
                                                        std::uint32_t end) const;

  const PairState& state_;
  std::vector<IndexPair> chain_;                  // pairs in the order of both builds
  std::array<std::vector<std::size_t>, 2> gaps_;  // of each function: how many of these precede it
};

}  // namespace whocall
