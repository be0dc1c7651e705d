// What text and JSON of frames are made of.
#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "report/cycles.h"

namespace whocall::test {
namespace {

struct Left {
  std::size_t begin, end, period;
  bool operator==(const Left&) const = default;
};

std::vector<Left> left_out(const std::vector<std::uint32_t>& frames) {
  std::vector<Left> found;
  for (const Gap& gap : find_gaps(frames)) {
    found.push_back({gap.begin, gap.end, gap.period});
  }
  return found;
}

TEST_CASE("report: a run shows its first cycle and its last frames") {
  CHECK(left_out(std::vector<std::uint32_t>(23, 1)).empty());
  CHECK(left_out(std::vector<std::uint32_t>(24, 1)) == std::vector<Left>{{1, 23, 1}});
  std::vector<std::uint32_t> turns{9};
  for (std::uint32_t i = 0; i < 101; ++i) {
    turns.push_back(i % 2);
  }
  turns.push_back(9);
  CHECK(left_out(turns) == std::vector<Left>{{3, 101, 2}});
  std::vector<std::uint32_t> different(100);
  std::iota(different.begin(), different.end(), 0U);
  CHECK(left_out(different).empty());
}

TEST_CASE("report: what a gap says") {
  CHECK(gap_line({2, 261986, 2}) ==
        "... 261,984 frames: the 2 frames above repeated 130,992 times ...");
  CHECK(gap_line({1, 23, 1}) == "... 22 frames: the frame above repeated 22 times ...");
  CHECK(gap_line({16, 32, 16}) == "... 16 frames: the 16 frames above repeated once ...");
  CHECK(gap_line({0, 1000000, 1}) ==
        "... 1,000,000 frames: the frame above repeated 1,000,000 times ...");
}

}  // namespace
}  // namespace whocall::test
