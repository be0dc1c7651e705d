// Many ranges of addresses, of which each address asks whether it is in one.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/address.h"

namespace whocall {

class JoinedRanges {
 public:
  // In any order; they may overlap.
  explicit JoinedRanges(std::vector<AddressRange> ranges) {
    std::ranges::sort(ranges, {}, &AddressRange::begin);
    for (const AddressRange& each : ranges) {
      if (ranges_.empty() || each.begin > ranges_.back().end) {
        ranges_.push_back(each);
      }
      ranges_.back().end = std::max(ranges_.back().end, each.end);
    }
  }

  // As quick as at the end where ranges come in order.
  void add(const AddressRange& range) {
    const auto ends_before = [&](const AddressRange& each) { return each.end < range.begin; };
    const auto first = std::ranges::partition_point(ranges_, ends_before);
    const auto last = std::ranges::upper_bound(ranges_, range.end, {}, &AddressRange::begin);
    if (first == last) {
      ranges_.insert(first, range);
      return;
    }
    first->begin = std::min(first->begin, range.begin);
    first->end = std::max(std::prev(last)->end, range.end);
    ranges_.erase(std::next(first), last);
  }

  [[nodiscard]] bool contains(Address address) const {
    const auto above = std::ranges::upper_bound(ranges_, address, {}, &AddressRange::begin);
    return above != ranges_.begin() && std::prev(above)->contains(address);
  }

  // Ascending; no two touch each other.
  [[nodiscard]] const std::vector<AddressRange>& ranges() const { return ranges_; }

 private:
  std::vector<AddressRange> ranges_;  // sorted, disjoint
};

}  // namespace whocall
