// The cursor: reads front to back, fails once and for good.
#include "base/byte_reader.h"

#include <doctest/doctest.h>

#include <limits>

#include "base_bytes.h"

namespace whocall::test {
namespace {

TEST_CASE("byte reader: integers one after the other") {
  const Bytes bytes = Bytes().u8(0xff).u16(0x8001).u32(0x80000001).u64(0x8000000000000001);
  ByteReader reader(bytes.view());
  CHECK(reader.u8() == 0xff);
  CHECK(reader.u16() == 0x8001);
  CHECK(reader.u32() == 0x80000001U);
  CHECK(reader.u64() == 0x8000000000000001U);
  CHECK(reader.at_end());
  CHECK(reader.ok());
  ByteReader again(bytes.view());
  CHECK(again.s8() == -1);
  CHECK(again.s16() == -0x7fff);
  CHECK(again.s32() == -0x7fffffff);
  CHECK(again.remaining() == 8);
  CHECK(again.offset() == 7);
}

TEST_CASE("byte reader: the first read that does not fit fails all later ones") {
  const Bytes bytes{1, 2, 3};
  ByteReader reader(bytes.view());
  CHECK(reader.u16() == 0x0201);
  CHECK(reader.u32() == 0);
  CHECK_FALSE(reader.ok());
  CHECK(reader.at_end());
  CHECK(reader.remaining() == 0);
  CHECK(reader.u8() == 0);  // one byte is left, but the record is damaged
  CHECK(reader.uleb() == 0);
  CHECK(reader.sleb() == 0);
  CHECK(reader.c_string().empty());
  CHECK(reader.block(0).empty());
  reader.seek(0);
  CHECK_FALSE(reader.ok());
}

TEST_CASE("byte reader: LEB128 as in the DWARF standard's tables") {
  const Bytes bytes{0x02, 0x7f, 0x80, 0x01, 0x81, 0x01, 0x82, 0x01, 0xb9, 0x64};
  ByteReader reader(bytes.view());
  for (const std::uint64_t expected : {2U, 127U, 128U, 129U, 130U, 12857U}) {
    CHECK(reader.uleb() == expected);
  }
  CHECK(reader.at_end());
  const Bytes signs{0x02, 0x7e, 0xff, 0x00, 0x81, 0x7f, 0x80,
                    0x01, 0x80, 0x7f, 0x81, 0x01, 0xff, 0x7e};
  ByteReader signed_reader(signs.view());
  for (const std::int64_t expected : {2, -2, 127, -127, 128, -128, 129, -129}) {
    CHECK(signed_reader.sleb() == expected);
  }
  CHECK(signed_reader.at_end());
}

TEST_CASE("byte reader: LEB128 at the limits of 64 bits, and beyond") {
  const auto largest = std::numeric_limits<std::uint64_t>::max();
  const auto lowest = std::numeric_limits<std::int64_t>::min();
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1} << 63U, largest}) {
    const Bytes bytes = Bytes().uleb(value);
    CHECK(ByteReader(bytes.view()).uleb() == value);
  }
  for (const std::int64_t value : {lowest, lowest + 1, std::int64_t{-1}, ~lowest}) {
    const Bytes bytes = Bytes().sleb(value);
    CHECK(ByteReader(bytes.view()).sleb() == value);
  }
  // Padded with zero groups far beyond 64 bits: legal, and the value stays.
  const Bytes padded = Bytes{0x85}.fill(20, 0x80).u8(0);
  ByteReader reader(padded.view());
  CHECK(reader.uleb() == 5);
  CHECK(reader.at_end());
  CHECK(ByteReader(padded.view()).sleb() == 5);
  // Without an end it is damage, not a value.
  const Bytes endless = Bytes().fill(100, 0x80);
  ByteReader cut(endless.view());
  cut.uleb();
  CHECK_FALSE(cut.ok());
}

TEST_CASE("byte reader: strings, blocks, skipping and seeking") {
  const Bytes bytes = Bytes().text("zR").u8(7).u8(8).u8(9);
  ByteReader reader(bytes.view());
  CHECK(reader.c_string() == "zR");
  const ByteView block = reader.block(2);
  CHECK(block.read<std::uint16_t>(0) == 0x0807);
  reader.seek(0);
  reader.skip(6);
  CHECK(reader.ok());
  CHECK(reader.at_end());
  CHECK(reader.c_string().empty());
  CHECK_FALSE(reader.ok());
  ByteReader beyond(bytes.view());
  beyond.seek(7);
  CHECK_FALSE(beyond.ok());
  ByteReader outside(bytes.view(), 7);
  CHECK_FALSE(outside.ok());
  ByteReader large(bytes.view(), 1);
  large.skip(std::numeric_limits<std::uint64_t>::max());
  CHECK_FALSE(large.ok());
}

TEST_CASE("byte reader: only integer sizes can be read by number") {
  const Bytes bytes{1, 2, 3, 4};
  ByteReader reader(bytes.view());
  CHECK(reader.fixed(2) == 0x0201);
  CHECK(reader.fixed(3) == 0);
  CHECK_FALSE(reader.ok());
}

}  // namespace
}  // namespace whocall::test
