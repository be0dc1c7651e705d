// What text and JSON of frames are made of.
#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "report/form/cycles.h"

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

std::vector<std::uint32_t> frames_of(std::string_view names) {
  return {names.begin(), names.end()};
}

std::string repeated(std::string_view names, std::size_t times) {
  std::string all;
  while (times-- != 0) {
    all += names;
  }
  return all;
}

TEST_CASE("report: the shortest cycle counts, and one that is too long is none") {
  const auto periods = [](const std::string& names) {
    std::vector<std::size_t> found;
    for (const Gap& gap : find_gaps(frames_of(names))) {
      found.push_back(gap.period);
    }
    return found;
  };
  using Periods = std::vector<std::size_t>;
  CHECK(periods(repeated("aab", 20)) == Periods{3});
  CHECK(periods(repeated("ab", 40)) == Periods{2});
  CHECK(periods(repeated("abcdefghijklmnop", 3)) == Periods{16});
  CHECK(periods(repeated("abcdefghijklmnop", 3).substr(1)).empty());
  CHECK(periods(repeated("abcdefghijklmnopq", 9)).empty());
  CHECK(periods(repeated("a", 30) + repeated("bc", 30) + "m") == Periods{1, 2});
}

TEST_CASE("report: the frames of a gap are those above it, and one of the run follows") {
  std::uint64_t state = 7;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33U) % below;
  };
  for (int round = 0; round < 300; ++round) {
    std::string names;
    for (std::uint64_t parts = random(5); parts != 0; --parts) {
      std::string word;
      for (std::uint64_t size = 1 + random(4); size != 0; --size) {
        word += static_cast<char>('a' + random(3));
      }
      names += repeated(word, 1 + random(40));
    }
    std::size_t end = 0;
    for (const Gap& gap : find_gaps(frames_of(names))) {
      REQUIRE(gap.begin >= gap.period + end);
      REQUIRE((gap.end - gap.begin) % gap.period == 0);
      const std::string above = names.substr(gap.begin - gap.period, gap.period);
      CHECK(names.substr(gap.begin, gap.end - gap.begin) ==
            repeated(above, (gap.end - gap.begin) / gap.period));
      REQUIRE(gap.end < names.size());
      CHECK(names[gap.end] == above[0]);
      end = gap.end;
    }
  }
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
