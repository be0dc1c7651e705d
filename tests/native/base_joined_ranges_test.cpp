// Ranges that are joined as they come.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/joined_ranges.h"

namespace whocall::test {
namespace {

TEST_CASE("joined ranges: an address lies in one as a linear search finds it") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<AddressRange> all;
    const std::size_t before = random() % 6;
    for (std::size_t i = 0; i < before; ++i) {
      const Address begin = random() % 64;
      all.push_back({begin, begin + random() % 12});
    }
    JoinedRanges joined(all);
    for (int more = 0; more < 12; ++more) {
      const Address begin = random() % 64;
      all.push_back({begin, begin + random() % 12});
      joined.add(all.back());
      for (Address address = 0; address < 80; ++address) {
        CAPTURE(address);
        const bool wanted = std::ranges::any_of(
            all, [&](const AddressRange& each) { return each.contains(address); });
        REQUIRE(joined.contains(address) == wanted);
      }
    }
  }
}

}  // namespace
}  // namespace whocall::test
