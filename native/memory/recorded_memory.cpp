#include "memory/recorded_memory.h"

#include <algorithm>
#include <vector>

namespace whocall {

void ReadWords::add(Address address) {
  const std::uint64_t word = address % kPage / kSize;
  const std::scoped_lock lock(mutex_);
  pages_[address - address % kPage][word / 64] |= std::uint64_t{1} << word % 64;
}

JoinedRanges ReadWords::so_far() const {
  std::vector<AddressRange> words;
  const std::scoped_lock lock(mutex_);
  for (const auto& [page, marks] : pages_) {
    for (std::uint64_t word = 0; word < kPage / kSize; ++word) {
      if ((marks[word / 64] >> word % 64 & 1U) != 0) {
        words.push_back({page + word * kSize, page + (word + 1) * kSize});
      }
    }
  }
  return JoinedRanges(std::move(words));
}

std::span<const std::byte> RecordedMemory::run_at(Address address) const {
  const auto run = memory_->run_at(address);
  if (!run.empty()) {
    words_->add(address);
  }
  return run.first(
      std::min<std::size_t>(run.size(), ReadWords::kSize - address % ReadWords::kSize));
}

}  // namespace whocall
