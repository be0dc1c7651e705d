#include "base/byte_sink.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <random>

#include "base/byte_reader.h"
#include "base_bytes.h"

using namespace whocall;

namespace {

std::vector<std::byte> bytes(std::initializer_list<unsigned> list) {
  return test::Bytes(list).get();
}

std::vector<std::byte> written(ByteSink& sink) { return std::move(sink).take(); }

}  // namespace

TEST_CASE("byte sink: numbers stand in the byte order of the file") {
  CHECK(written(ByteSink(Endian::little, 8).u8(0x11).u16(0x2233).u32(0x44556677)) ==
        bytes({0x11, 0x33, 0x22, 0x77, 0x66, 0x55, 0x44}));
  CHECK(written(ByteSink(Endian::big, 8).u8(0x11).u16(0x2233).u32(0x44556677)) ==
        bytes({0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77}));
  CHECK(written(ByteSink(Endian::big, 8).u64(0x1122334455667788)) ==
        bytes({0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}));
}

TEST_CASE("byte sink: a word is as wide as a pointer") {
  CHECK(written(ByteSink(Endian::little, 8).word(0x1122334455667788)) ==
        bytes({0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}));
  CHECK(written(ByteSink(Endian::little, 4).word(0x55667788)) == bytes({0x88, 0x77, 0x66, 0x55}));
  CHECK(written(ByteSink(Endian::big, 4).word(0x55667788)) == bytes({0x55, 0x66, 0x77, 0x88}));
}

TEST_CASE("byte sink: the examples of LEB128 in the DWARF standard") {
  const auto unsigned_bytes = [](std::uint64_t value) {
    return written(ByteSink(Endian::little, 8).uleb(value));
  };
  CHECK(unsigned_bytes(2) == bytes({2}));
  CHECK(unsigned_bytes(127) == bytes({127}));
  CHECK(unsigned_bytes(128) == bytes({0x80, 1}));
  CHECK(unsigned_bytes(12857) == bytes({0xb9, 0x64}));
  const auto signed_bytes = [](std::int64_t value) {
    return written(ByteSink(Endian::little, 8).sleb(value));
  };
  CHECK(signed_bytes(2) == bytes({2}));
  CHECK(signed_bytes(-2) == bytes({0x7e}));
  CHECK(signed_bytes(127) == bytes({0xff, 0}));
  CHECK(signed_bytes(-127) == bytes({0x81, 0x7f}));
  CHECK(signed_bytes(-128) == bytes({0x80, 0x7f}));
  CHECK(signed_bytes(-129) == bytes({0xff, 0x7e}));
}

TEST_CASE("byte sink: the reader reads any LEB128 number back") {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> values = {0, std::numeric_limits<std::uint64_t>::max(),
                                       std::uint64_t{1} << 63U, (std::uint64_t{1} << 63U) - 1};
  for (int i = 0; i < 2000; ++i) {
    values.push_back(random() >> (random() % 64));
  }
  ByteSink sink(Endian::little, 8);
  for (const std::uint64_t value : values) {
    sink.uleb(value)
        .sleb(static_cast<std::int64_t>(value))
        .sleb(-static_cast<std::int64_t>(value / 2));
  }
  const auto numbers = written(sink);
  ByteReader reader(ByteView(numbers, Endian::little), 0);
  for (const std::uint64_t value : values) {
    REQUIRE(reader.uleb() == value);
    REQUIRE(reader.sleb() == static_cast<std::int64_t>(value));
    REQUIRE(reader.sleb() == -static_cast<std::int64_t>(value / 2));
  }
  CHECK(reader.ok());
  CHECK(reader.remaining() == 0);
}

TEST_CASE("byte sink: text has its NUL, alignment its filler, and a patch its place") {
  ByteSink sink(Endian::big, 4);
  sink.u32(0).text("ab").align(4, 0xee).text("").align(4);
  CHECK(sink.size() == 12);
  sink.align(4);
  CHECK(sink.size() == 12);
  sink.patch_u32(0, 0x01020304);
  CHECK(written(sink) == bytes({1, 2, 3, 4, 'a', 'b', 0, 0xee, 0, 0, 0, 0}));
}
