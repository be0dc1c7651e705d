// What the functions that are pairs say of those that they refer to.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "symbols/signatures/pair_state.h"

namespace whocall {

// That two functions are one; each that refers to them has one voice.
struct VoteCount {
  std::uint32_t known = 0;
  std::uint32_t program = 0;
  std::uint32_t voices = 0;
  std::uint32_t of_known = 0;  // all voices that speak of it
  std::uint32_t of_program = 0;

  [[nodiscard]] bool wins() const { return 2 * voices > of_known && 2 * voices > of_program; }
  [[nodiscard]] bool is_unanimous() const { return voices == of_known && voices == of_program; }
};

// Whose references count: those of all pairs, or of such as have the same code on both sides.
enum class Voters : std::uint8_t { all, same_code };

// In the order of the known build. Data on which pairs of the same code agree are set in `state`.
std::vector<VoteCount> count_votes(PairState& state, Voters voters);

}  // namespace whocall
