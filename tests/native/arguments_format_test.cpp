// What a format of printf's kind asks for, by the size of a word.
#include <doctest/doctest.h>

#include "arguments/format_conversions.h"

namespace whocall::test {
namespace {

using Sizes = std::vector<std::uint8_t>;

TEST_CASE("formats: integers and pointers in order") {
  CHECK(sizes_of_conversions("%d of %s, %5.*lx%%", 8) == Sizes{4, 8, 4, 8});
  CHECK(sizes_of_conversions("%g %lld", 8) == Sizes{8});
  CHECK(sizes_of_conversions("%ld %p %hhd", 4) == Sizes{4, 4, 4});
}

TEST_CASE("formats: what takes two words ends what is told") {
  CHECK(sizes_of_conversions("%d %lld %d", 4) == Sizes{4});
  CHECK(sizes_of_conversions("%s %jd %d", 4) == Sizes{4});
  CHECK(sizes_of_conversions("%d %.3f %d", 4) == Sizes{4});
}

}  // namespace
}  // namespace whocall::test
