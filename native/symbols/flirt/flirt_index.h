// FLIRT's patterns made ready for asking which of them some code begins with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symbols/flirt/flirt_set.h"

namespace whocall {

// Immutable, so free to be shared.
class FlirtIndex {
 public:
  explicit FlirtIndex(FlirtSet set);

  [[nodiscard]] const FlirtSet& set() const { return set_; }

  // Where more begin code so, none tells anything: the search ends.
  static constexpr std::size_t kMost = 64;
  // Appends the patterns that `code` begins with, up to one more than `kMost`. `work` counts the
  // bytes that are compared.
  void find(std::span<const std::byte> code, std::vector<std::uint32_t>& found,
            std::uint64_t& work) const;

 private:
  struct Search;
  [[nodiscard]] int symbol(std::uint32_t pattern, std::size_t at) const;

  FlirtSet set_;
  std::vector<std::uint32_t> sorted_;  // patterns, by their bytes
};

// The check sum of FLIRT: CRC-16 of X.25, its bytes swapped; 0 of nothing.
std::uint16_t flirt_sum(std::span<const std::byte> bytes);

}  // namespace whocall
