#include "unwind/analysis/suspect_calls.h"

#include <algorithm>

namespace whocall {

// Only a call at the end of a block can be one that does not come back.
Suspects SuspectCalls::after_call(Suspects before, std::optional<Address> target,
                                  std::uint64_t behind) {
  const std::uint64_t next_block = reader_.behind_padding(behind);
  if (next_block != behind || reader_.block_starts().contains(next_block) ||
      entries_.contains(next_block)) {
    std::shift_right(before.begin(), before.end(), 1);
    before.front() = {behind, target};
  }
  return before;
}

bool SuspectCalls::mark_no_return(std::uint64_t offset, const Suspects& one,
                                  const Suspects& other) {
  bool found = false;
  for (const Suspects* suspects : {&one, &other}) {
    for (const Suspect& suspect : *suspects) {
      if (suspect.behind != 0 && never_returns(suspect.target)) {
        found = no_return_targets_.insert(*suspect.target).second || found;
      }
    }
  }
  const bool one_adjoins = adjoins(one, offset);
  if (!found && one_adjoins != adjoins(other, offset)) {
    found = no_return_calls_.insert((one_adjoins ? one : other).front().behind).second;
  }
  return found;
}

// Whether nothing but padding lies between the last suspicious call and `offset`.
bool SuspectCalls::adjoins(const Suspects& suspects, std::uint64_t offset) {
  const std::uint64_t behind = suspects.front().behind;
  return behind != 0 && behind <= offset && reader_.behind_padding(behind) >= offset;
}

}  // namespace whocall
