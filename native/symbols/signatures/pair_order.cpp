#include "symbols/signatures/pair_order.h"

namespace whocall {
namespace {

constexpr std::uint32_t kLargestGapOfFunctions = 64;

}  // namespace

PairOrder::PairOrder(const PairState& state) : state_(state) {
  std::vector<IndexPair> pairs;
  std::vector<std::size_t> row;
  for (std::uint32_t i = 0; i < state.size(Side::known); ++i) {
    if (const std::uint32_t other = state.partner(Side::known, i); other != kNoPair) {
      pairs.emplace_back(i, other);
      row.push_back(other);
    }
  }
  for (const std::size_t index : longest_ascending(row)) {
    chain_.push_back(pairs[index]);
  }
  gaps_ = {gaps_of(Side::known), gaps_of(Side::program)};
}

std::vector<std::size_t> PairOrder::gaps_of(Side side) const {
  std::vector<std::size_t> found(state_.size(side));
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < found.size(); ++i) {
    if (next < chain_.size() &&
        (side == Side::known ? chain_[next].first : chain_[next].second) == i) {
      ++next;
    }
    found[i] = next;
  }
  return found;
}

// In a large gap, nobody is.
bool PairOrder::is_alone(Side side, std::uint32_t index, const std::vector<bool>& marked) const {
  const std::vector<std::size_t>& gaps = gaps_.at(side == Side::known ? 0 : 1);
  const auto is_twin = [&](std::size_t other) {
    return other != index && !marked[other] &&
           state_.code_of(side, static_cast<std::uint32_t>(other)) == state_.code_of(side, index);
  };
  std::size_t begin = index;
  while (begin > 0 && gaps[begin - 1] == gaps[index] && index - begin <= kLargestGapOfFunctions) {
    --begin;
  }
  std::size_t end = index;
  while (end < gaps.size() && gaps[end] == gaps[index] && end - begin <= kLargestGapOfFunctions) {
    if (is_twin(end++)) {
      return false;
    }
  }
  for (std::size_t i = begin; i < index; ++i) {
    if (is_twin(i)) {
      return false;
    }
  }
  return end - begin <= kLargestGapOfFunctions;
}

std::vector<PairOrder::Gap> PairOrder::gaps() const {
  std::vector<Gap> found;
  IndexPair begin{0, 0};
  for (std::size_t i = 0; i <= chain_.size(); ++i) {
    const IndexPair end = i < chain_.size()
                              ? chain_[i]
                              : IndexPair{state_.size(Side::known), state_.size(Side::program)};
    Gap gap{open_between(Side::known, begin.first, end.first),
            open_between(Side::program, begin.second, end.second)};
    if (!gap.known.empty() && !gap.program.empty() && gap.known.size() <= kLargestGapOfFunctions &&
        gap.program.size() <= kLargestGapOfFunctions) {
      found.push_back(std::move(gap));
    }
    begin = {end.first + 1, end.second + 1};
  }
  return found;
}

std::vector<std::uint32_t> PairOrder::open_between(Side side, std::uint32_t begin,
                                                   std::uint32_t end) const {
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = begin; i < end && open.size() <= kLargestGapOfFunctions; ++i) {
    if (state_.partner(side, i) == kNoPair) {
      open.push_back(i);
    }
  }
  return open;
}

}  // namespace whocall
