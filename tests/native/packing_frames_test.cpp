// Packed streams: whole, joined, cut short, damaged, and made to cost.
#include <stdexcept>

#include "base/interrupt.h"
#include "packing/unpacked_source.h"
#include "packing_packers.h"

namespace whocall {
namespace {

using namespace whocall::testing;
using namespace std::string_literals;

struct Unpacked {
  std::string contents;
  std::string damage;
};

Unpacked unpacked(Packing packing, const std::string& stream, std::size_t piece = 4096,
                  std::size_t room = 5000, const std::string& damage = {}) {
  TextSource source(stream, piece, damage);
  UnpackedSource made(packing, source);
  std::string contents = all_of(made, room);
  return {std::move(contents), made.damage()};
}

TEST_CASE("packed streams are told by their first bytes") {
  for (const Packing packing : kPackings) {
    const std::string stream = packed_by(packing, "contents");
    const auto head = std::as_bytes(std::span(stream));
    CHECK(packing_of(head) == packing);
    CHECK(packing_of(head.first(kPackingMark)) == packing);
    CHECK(!packing_of(head.first(2)) == (packing != Packing::gzip));
  }
  const std::string skipped = "\x5a\x2a\x4d\x18\1\0"s;
  CHECK(packing_of(std::as_bytes(std::span(skipped))) == Packing::zstd);
  CHECK(!packing_of({}));
}

TEST_CASE("packed streams: pieces and rooms of any size") {
  const std::string contents = some_contents(300'000);
  for (const Packing packing : kPackings) {
    CAPTURE(name_of(packing));
    const std::string stream = packed_by(packing, contents);
    for (const std::size_t piece : {1U, 7U, 1U << 20U}) {
      for (const std::size_t room : {3U, 4096U, 1U << 20U}) {
        const Unpacked made = unpacked(packing, stream, piece, room);
        CHECK(made.contents == contents);
        CHECK(made.damage.empty());
      }
    }
  }
}

TEST_CASE("packed streams: what the last input of a cut one holds is not lost in small rooms") {
  const std::string contents(3 << 20U, 'x');
  for (const Packing packing : kPackings) {
    CAPTURE(name_of(packing));
    const std::string stream = packed_by(packing, contents);
    for (const std::size_t cut : {stream.size() / 2, stream.size() - 9, stream.size() - 1}) {
      const std::string whole = unpacked(packing, stream.substr(0, cut), 4096, 4 << 20U).contents;
      CHECK(unpacked(packing, stream.substr(0, cut), 4096, 100).contents == whole);
    }
  }
}

TEST_CASE("packed streams: frames follow each other, and what is none is left out") {
  for (const Packing packing : kPackings) {
    CAPTURE(name_of(packing));
    const std::string one = packed_by(packing, "one ");
    const std::string two = packed_by(packing, "two");
    for (const std::size_t piece : {1U, 5U, 4096U}) {
      CHECK(unpacked(packing, one + two, piece).contents == "one two");
      CHECK(unpacked(packing, one + "garbage" + two, piece).contents == "one ");
      CHECK(unpacked(packing, one + "x", piece).damage.empty());
      const bool padded = packing == Packing::xz || packing == Packing::gzip;
      const Unpacked apart = unpacked(packing, one + std::string(70'000, '\0') + two, piece);
      CHECK(apart.contents == (padded ? "one two" : "one "));
      CHECK(apart.damage.empty());
    }
    const Packing other = packing == Packing::gzip ? Packing::xz : Packing::gzip;
    CHECK(unpacked(packing, one + packed_by(other, "other")).contents == "one ");
  }
}

TEST_CASE("packed streams: one that is cut gives what it still holds") {
  const std::string contents = some_contents(400'000);
  for (const Packing packing : kPackings) {
    CAPTURE(name_of(packing));
    const std::string stream = packed_by(packing, contents);
    for (std::size_t cut = 0; cut < stream.size(); cut += 1 + stream.size() / 97) {
      const Unpacked made = unpacked(packing, stream.substr(0, cut));
      CHECK(contents.starts_with(made.contents));
      CHECK(made.damage == "it ends in the middle");
      // Blocks of bzip2 have 100 KB here, those of the others less than 300.
      CHECK(made.contents.size() + 300'000 >= contents.size() * cut / stream.size());
    }
    CHECK(unpacked(packing, stream.substr(0, stream.size() / 2), 4096, 5000, "gone").damage ==
          "gone");
    CHECK(unpacked(packing, stream, 4096, 5000, "gone").damage == "gone");
    CHECK(unpacked(packing, stream + packed_by(packing, "").substr(0, 7)).contents == contents);
  }
}

TEST_CASE("packed streams: damage is told, whatever was damaged") {
  const std::string contents = some_contents(20'000);
  for (const Packing packing : kPackings) {
    CAPTURE(name_of(packing));
    const std::string stream = packed_by(packing, contents);
    for (std::size_t place = kPackingMark; place < stream.size(); place += 1 + place / 50) {
      std::string damaged = stream;
      damaged[place] = static_cast<char>(damaged[place] ^ 0x41);
      const Unpacked made = unpacked(packing, damaged);
      const bool is_whole = made.contents == contents && made.damage.empty();
      CHECK((is_whole || !made.damage.empty()));
      CHECK(made.contents.size() <= contents.size() + (std::size_t{1} << 20U));
    }
  }
}

TEST_CASE("packed streams: frames without contents are no endless work") {
  for (const Packing packing : kPackings) {
    CAPTURE(name_of(packing));
    const std::string nothing = packed_by(packing, "");
    std::string stream;
    for (unsigned i = 0; i < kMostEmptyFrames; ++i) {
      stream += nothing;
    }
    const std::string last = packed_by(packing, "contents");
    CHECK(unpacked(packing, stream + last).contents == "contents");
    CHECK(unpacked(packing, stream + last + stream + last).contents == "contentscontents");
    stream += nothing;
    const Unpacked made = unpacked(packing, stream + last);
    CHECK(made.contents.empty());
    CHECK(made.damage == "it has more than 4096 frames without contents");
  }
}

TEST_CASE("packed streams: memory that a frame asks for is limited") {
  SUBCASE("zstd: a window of 256 MiB") {
    const std::string frame = "\x28\xb5\x2f\xfd\0\x90"s + "\1\0\0"s;
    CHECK(unpacked(Packing::zstd, frame).damage == "Frame requires too much memory for decoding");
    const std::string allowed = "\x28\xb5\x2f\xfd\0\x88"s + "\1\0\0"s;
    CHECK(unpacked(Packing::zstd, allowed).damage.empty());
  }
  SUBCASE("xz: a dictionary of 1 GiB") {
    std::string stream = packed_by(Packing::xz, some_contents(20'000));
    constexpr std::size_t kBlock = 12;
    const std::size_t size = (static_cast<unsigned char>(stream[kBlock]) + 1) * 4U;
    const std::size_t dictionary = stream.find("\x21\x01", kBlock) + 2;
    REQUIRE(dictionary < kBlock + size);
    stream[dictionary] = 36;
    const auto* const header = reinterpret_cast<const std::uint8_t*>(stream.data()) + kBlock;
    const std::uint32_t sum = lzma_crc32(header, size - 4, 0);
    for (std::size_t i = 0; i < 4; ++i) {
      stream[kBlock + size - 4 + i] = static_cast<char>(sum >> (8 * i));
    }
    CHECK(unpacked(Packing::xz, stream).damage == "it needs more than 256 MiB of memory");
  }
}

TEST_CASE("packed streams: Ctrl-C ends them") {
  const std::string stream = packed_by(Packing::gzip, std::string(10 << 20U, '\0'));
  TextSource source(stream);
  UnpackedSource made(Packing::gzip, source);
  static int turns = 0;
  set_interrupt_check([] {
    if (++turns == 20) {
      throw std::runtime_error("Ctrl-C");
    }
  });
  CHECK_THROWS_WITH(all_of(made), "Ctrl-C");
  set_interrupt_check(nullptr);
}

}  // namespace
}  // namespace whocall
