// The bounds-checked view: nothing outside is ever read, whatever the offset.
#include "base/byte_view.h"

#include <doctest/doctest.h>

#include <limits>

#include "base_bytes.h"

namespace whocall::test {
namespace {

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("byte view: integers of every size in both byte orders") {
  const Bytes bytes{0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88};
  const ByteView little = bytes.view();
  const ByteView big = bytes.view(Endian::big);
  CHECK(little.read<std::uint8_t>(7) == 0x88);
  CHECK(little.read<std::uint16_t>(0) == 0x0201);
  CHECK(little.read<std::uint32_t>(4) == 0x88070605U);
  CHECK(little.read<std::uint64_t>(0) == 0x8807060504030201U);
  CHECK(big.read<std::uint16_t>(0) == 0x0102);
  CHECK(big.read<std::uint32_t>(4) == 0x05060788U);
  CHECK(big.read<std::uint64_t>(0) == 0x0102030405060788U);
  CHECK(little.read<std::uint16_t>(3) == 0x0504);  // unaligned
}

TEST_CASE("byte view: an integer that does not fit whole is a miss") {
  const Bytes bytes{1, 2, 3, 4, 5, 6, 7, 8};
  const ByteView view = bytes.view();
  CHECK_FALSE(view.read<std::uint64_t>(1).has_value());
  CHECK_FALSE(view.read<std::uint32_t>(5).has_value());
  CHECK_FALSE(view.read<std::uint8_t>(8).has_value());
  CHECK_FALSE(view.read<std::uint8_t>(kHuge).has_value());
  CHECK_FALSE(view.read<std::uint64_t>(kHuge - 6).has_value());  // offset + 8 wraps to 1
  CHECK_FALSE(ByteView().read<std::uint8_t>(0).has_value());
}

TEST_CASE("byte view: only the sizes that integers have") {
  const Bytes bytes{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(bytes.view().read_unsigned(0, 1) == 1U);
  CHECK(bytes.view().read_unsigned(0, 2) == 0x0201U);
  CHECK(bytes.view().read_unsigned(0, 4) == 0x04030201U);
  CHECK(bytes.view().read_unsigned(0, 8) == 0x0807060504030201U);
  for (const unsigned size : {0U, 3U, 5U, 6U, 7U, 9U, 16U, 0xffffffffU}) {
    CHECK_FALSE(bytes.view().read_unsigned(0, size).has_value());
  }
}

TEST_CASE("byte view: slices lie inside or are a miss") {
  const Bytes bytes{1, 2, 3, 4};
  const ByteView view = bytes.view(Endian::big);
  REQUIRE(view.slice(1, 2).has_value());
  CHECK(view.slice(1, 2)->size() == 2);
  CHECK(view.slice(1, 2)->endian() == Endian::big);
  CHECK(view.slice(1, 2)->read<std::uint16_t>(0) == 0x0203);
  CHECK(view.slice(4, 0).has_value());  // empty, at the end
  CHECK(view.slice(0, 4).has_value());
  CHECK_FALSE(view.slice(5, 0).has_value());
  CHECK_FALSE(view.slice(1, 4).has_value());
  CHECK_FALSE(view.slice(1, kHuge).has_value());  // 1 + size wraps to 0
  CHECK_FALSE(view.slice(kHuge, 1).has_value());
}

TEST_CASE("byte view: everything from an offset on") {
  const Bytes bytes{1, 2, 3, 4};
  CHECK(bytes.view().from(0).size() == 4);
  CHECK(bytes.view().from(3).size() == 1);
  CHECK(bytes.view().from(4).empty());
  CHECK(bytes.view(Endian::big).from(kHuge).endian() == Endian::big);
}

TEST_CASE("byte view: strings end with a NUL inside the view") {
  const Bytes bytes = Bytes().text("abc").text("").u8('x').u8('y');
  CHECK(bytes.view().c_string(0) == "abc");
  CHECK(bytes.view().c_string(1) == "bc");
  CHECK(bytes.view().c_string(3) == "");
  CHECK(bytes.view().c_string(4) == "");
  CHECK_FALSE(bytes.view().c_string(5).has_value());  // no NUL follows
  CHECK_FALSE(bytes.view().c_string(7).has_value());
  CHECK_FALSE(bytes.view().c_string(kHuge).has_value());
}

TEST_CASE("byte view: swapping bytes twice gives the value back") {
  CHECK(swap_bytes(std::uint8_t{0x12}) == 0x12);
  CHECK(swap_bytes(std::uint16_t{0x1234}) == 0x3412);
  CHECK(swap_bytes(std::uint32_t{0x12345678}) == 0x78563412U);
  CHECK(swap_bytes(swap_bytes(std::uint64_t{0x0123456789abcdef})) == 0x0123456789abcdefU);
}

}  // namespace
}  // namespace whocall::test
