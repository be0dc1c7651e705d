#include "object/dw/die_ranges.h"

#include <algorithm>

#include "base/interrupt.h"

namespace whocall {
namespace {

// Damaged files may let every DIE name the same long list.
constexpr std::size_t kMostRanges = std::size_t{1} << 24U;

}  // namespace

void DieRanges::add(Dwarf_Die& die, std::uint32_t owner) {
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  std::ptrdiff_t at = 0;
  while (ranges_.size() < kMostRanges && (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0) {
    check_interrupt_at(ranges_.size(), kManyEntries);
    if (begin < end && (begin != 0 || takes_zero_)) {
      ranges_.push_back({{begin, end}, owner});
    }
  }
}

void DieRanges::close() {
  std::ranges::stable_sort(ranges_, {}, [](const Range& each) { return each.code.begin; });
  pieces_ = flatten_ranges(static_cast<std::uint32_t>(ranges_.size()),
                           [&](std::uint32_t i) { return ranges_[i].code; });
  for (RangePiece& piece : pieces_) {
    piece.owner = piece.owner == kNoRange ? kNoRange : ranges_[piece.owner].owner;
  }
  ranges_ = {};
}

}  // namespace whocall
