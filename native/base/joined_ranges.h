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

  [[nodiscard]] bool contains(Address address) const {
    const auto above = std::ranges::upper_bound(ranges_, address, {}, &AddressRange::begin);
    return above != ranges_.begin() && std::prev(above)->contains(address);
  }

 private:
  std::vector<AddressRange> ranges_;  // sorted, disjoint
};

}  // namespace whocall
