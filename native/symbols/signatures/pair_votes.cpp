#include "symbols/signatures/pair_votes.h"

#include <algorithm>
#include <unordered_map>

namespace whocall {
namespace {

struct Vote {
  std::uint64_t known = 0;
  std::uint64_t program = 0;
  std::uint32_t voter = 0;
  friend auto operator<=>(const Vote&, const Vote&) = default;
};

// visit(known, program, voices, voices that speak of the one, and of the other)
template <typename Visit>
void for_each_count(std::vector<Vote>& votes, Visit visit) {
  std::ranges::sort(votes);
  votes.erase(std::unique(votes.begin(), votes.end()), votes.end());
  std::unordered_map<std::uint64_t, std::uint32_t> of_known;
  std::unordered_map<std::uint64_t, std::uint32_t> of_program;
  for (const Vote& each : votes) {
    ++of_known[each.known];
    ++of_program[each.program];
  }
  for (std::size_t i = 0; i < votes.size();) {
    const Vote& first = votes[i];
    std::uint32_t voices = 0;
    for (; i < votes.size() && votes[i].known == first.known && votes[i].program == first.program;
         ++i) {
      ++voices;
    }
    visit(first.known, first.program, voices, of_known[first.known], of_program[first.program]);
  }
}

}  // namespace

std::vector<VoteCount> count_votes(PairState& state, Voters voters) {
  std::vector<Vote> functions;
  std::vector<Vote> data;
  for (std::uint32_t i = 0; i < state.size(Side::known); ++i) {
    const std::uint32_t other = state.partner(Side::known, i);
    if (other == kNoPair) {
      continue;
    }
    const bool same = state.same_code(i, other);
    if (!same && voters == Voters::same_code) {
      continue;
    }
    state.for_each_aligned(
        i, other, [&](const LinkedReference& left, const LinkedReference& right) {
          if (left.kind == LinkedKind::function && right.kind == LinkedKind::function) {
            functions.push_back({left.value, right.value, i});
          } else if (same && left.kind == LinkedKind::data && right.kind == LinkedKind::data) {
            data.push_back({left.value, right.value, i});
          }
        });
  }
  std::vector<VoteCount> counts;
  for_each_count(functions, [&](std::uint64_t known, std::uint64_t program, std::uint32_t voices,
                                std::uint32_t of_known, std::uint32_t of_program) {
    counts.push_back({static_cast<std::uint32_t>(known), static_cast<std::uint32_t>(program),
                      voices, of_known, of_program});
  });
  std::vector<std::pair<std::uint64_t, std::uint64_t>> same;
  for_each_count(data, [&](std::uint64_t known, std::uint64_t program, std::uint32_t voices,
                           std::uint32_t of_known, std::uint32_t of_program) {
    if (2 * voices > of_known && 2 * voices > of_program) {
      same.emplace_back(known, program);
    }
  });
  state.set_data(same);
  return counts;
}

}  // namespace whocall
