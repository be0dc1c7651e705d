// The distinct ones of many addresses, in order, without sorting where they lie close together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/address.h"
#include "base/sort_by_address.h"

namespace whocall {

// Calls `visit(address, repeated)` for each distinct address, ascending; `repeated` tells whether
// it stands in `addresses` more than once. Calls in code go to about every 32nd byte of it: two
// bits for each byte are then half of the addresses themselves, and are set in one pass.
template <typename Visit>
void for_each_distinct(std::vector<Address> addresses, Visit visit) {
  constexpr Address kSparse = 128;  // bytes for each address; with more of them, sorting is cheaper
  constexpr unsigned kWord = 64;
  if (addresses.empty()) {
    return;
  }
  const auto [lowest, highest] = std::minmax_element(addresses.begin(), addresses.end());
  const Address base = *lowest;
  const Address span = *highest - base;
  if (span / kSparse < addresses.size()) {
    std::vector<std::uint64_t> seen(span / kWord + 1);
    std::vector<std::uint64_t> again(seen.size());
    for (const Address address : addresses) {
      const std::uint64_t bit = std::uint64_t{1} << (address - base) % kWord;
      const std::size_t word = (address - base) / kWord;
      again[word] |= seen[word] & bit;
      seen[word] |= bit;
    }
    for (std::size_t word = 0; word < seen.size(); ++word) {
      for (std::uint64_t left = seen[word]; left != 0; left &= left - 1) {
        const std::uint64_t bit = left & (0 - left);
        visit(base + word * kWord + static_cast<unsigned>(std::countr_zero(left)),
              (again[word] & bit) != 0);
      }
    }
    return;
  }
  sort_by_address(addresses, [](Address address) { return address; });
  for (std::size_t i = 0; i < addresses.size();) {
    std::size_t next = i + 1;
    while (next < addresses.size() && addresses[next] == addresses[i]) {
      ++next;
    }
    visit(addresses[i], next - i > 1);
    i = next;
  }
}

}  // namespace whocall
