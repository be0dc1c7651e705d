// Which of many ranges, possibly nested or overlapping, holds an address: the one with the nearest
// start at or below it. Used for segments, sections, FDEs and functions alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/address.h"

namespace whocall {

inline constexpr std::uint32_t kNoRange = ~std::uint32_t{0};

// From `begin` to the next piece's begin, `owner` (an index, or kNoRange in a gap) is the answer.
struct RangePiece {
  Address begin = 0;
  std::uint32_t owner = kNoRange;
};

// Cuts `count` ranges into disjoint pieces, so that a look-up is one binary search however the
// ranges overlap. `range_of(i)` must ascend by begin; of equal begins the first is the best. A
// range that ends inside another gives way to it again behind its end. The last piece is a gap.
// Calls `take(piece)` for each in the order of addresses. A sweep with a stack of open ranges:
// O(count) time, at most 3 * count pieces.
template <typename RangeOf, typename Take>
void for_each_piece(std::uint32_t count, RangeOf range_of, Take take) {
  std::vector<std::uint32_t> open;
  Address cursor = 0;
  bool in_gap = true;  // what was taken last
  // Emits what the open ranges cover from the cursor up to `limit`.
  const auto advance = [&](Address limit, bool to_the_end) {
    while (!open.empty() && (to_the_end || cursor < limit)) {
      const Address end = range_of(open.back()).end;
      if (end <= cursor) {
        open.pop_back();
        continue;
      }
      take(RangePiece{cursor, open.back()});
      in_gap = false;
      cursor = to_the_end ? end : std::min(end, limit);
    }
    if (open.empty() && !in_gap && (to_the_end || cursor < limit)) {
      take(RangePiece{cursor, kNoRange});
      in_gap = true;
    }
  };
  for (std::uint32_t i = 0; i < count;) {
    const Address begin = range_of(i).begin;
    advance(begin, false);
    cursor = begin;
    while (!open.empty() && range_of(open.back()).end <= begin) {
      open.pop_back();  // or a long run of neighbours would stay open until its end
    }
    std::uint32_t last = i;
    while (last < count && range_of(last).begin == begin) {
      ++last;
    }
    for (std::uint32_t k = last; k > i; --k) {
      if (!range_of(k - 1).empty()) {
        open.push_back(k - 1);
      }
    }
    i = last;
  }
  advance(0, true);
}

// All pieces at once.
template <typename RangeOf>
std::vector<RangePiece> flatten_ranges(std::uint32_t count, RangeOf range_of) {
  std::vector<RangePiece> pieces;
  pieces.reserve(std::size_t{count} + 1);
  for_each_piece(count, range_of, [&](const RangePiece& piece) { pieces.push_back(piece); });
  return pieces;
}

// The owner of the piece that holds `address`; kNoRange when none does. O(log n).
inline std::uint32_t find_range(std::span<const RangePiece> pieces, Address address) {
  const auto next = std::upper_bound(
      pieces.begin(), pieces.end(), address,
      [](Address wanted, const RangePiece& piece) { return wanted < piece.begin; });
  return next == pieces.begin() ? kNoRange : std::prev(next)->owner;
}

// `begin + size`, stopping at the top of the address space instead of wrapping.
constexpr Address end_of(Address begin, std::uint64_t size) {
  return size > ~Address{0} - begin ? ~Address{0} : begin + size;
}

}  // namespace whocall
