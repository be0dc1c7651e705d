#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/error.h"
#include "memory/callback_memory.h"
#include "memory/layered_memory.h"
#include "memory/process_memory.h"
#include "memory/segment_memory.h"

using namespace whocall;

namespace {

using Bytes = std::vector<std::byte>;

Bytes filled(std::size_t size, unsigned value) {
  return Bytes(size, static_cast<std::byte>(value));
}

unsigned first_of(std::span<const std::byte> run) {
  return run.empty() ? 256 : std::to_integer<unsigned>(run.front());
}

}  // namespace

TEST_CASE("segment memory answers as a linear search does") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Bytes> owned;
    std::map<Address, std::byte> expected;
    std::vector<SegmentMemory::Segment> segments;
    for (unsigned index = 0; index < 20; ++index) {
      owned.push_back(filled(random() % 40, index));
    }
    for (const Bytes& bytes : owned) {
      segments.push_back({random() % 400, bytes});
    }
    auto in_order = segments;
    std::ranges::stable_sort(in_order, {}, &SegmentMemory::Segment::begin);
    for (const auto& segment : in_order) {
      for (std::size_t at = 0; at < segment.bytes.size(); ++at) {
        expected.try_emplace(segment.begin + at, segment.bytes[at]);
      }
    }
    const SegmentMemory memory(segments);
    for (Address address = 0; address < 460; ++address) {
      const auto run = memory.run_at(address);
      const auto found = expected.find(address);
      REQUIRE(run.empty() == (found == expected.end()));
      for (std::size_t at = 0; at < run.size(); ++at) {
        REQUIRE(run[at] == expected.at(address + at));
      }
    }
  }
}

TEST_CASE("segment memory ends with the address space") {
  const Bytes bytes = filled(16, 1);
  const SegmentMemory memory({{~Address{0} - 8, bytes}});
  CHECK(memory.run_at(~Address{0} - 8).size() == 8);
  CHECK(memory.run_at(~Address{0}).empty());
  CHECK(memory.run_at(0).empty());
  CHECK(SegmentMemory({}).run_at(0).empty());
}

TEST_CASE("a lower layer never hides what a layer above knows") {
  const Bytes above = filled(4096, 1);
  const Bytes below = filled(3 * 4096, 2);
  std::vector<std::unique_ptr<Memory>> layers;
  layers.push_back(std::make_unique<SegmentMemory>(
      std::vector<SegmentMemory::Segment>{{0x2000, std::span(above)}}));
  layers.push_back(std::make_unique<SegmentMemory>(
      std::vector<SegmentMemory::Segment>{{0x1000, std::span(below)}}));
  const LayeredMemory memory(std::move(layers));
  Bytes all(3 * 4096 + 1);
  CHECK(memory.read(0x1000, all) == 3 * 4096);
  CHECK(first_of(std::span(all).subspan(0)) == 2);
  CHECK(first_of(std::span(all).subspan(0xfff)) == 2);
  CHECK(first_of(std::span(all).subspan(0x1000)) == 1);
  CHECK(first_of(std::span(all).subspan(0x2000)) == 2);
  CHECK(memory.run_at(0x1ff0).size() == 16);
  CHECK(memory.run_at(0xfff).empty());
  std::vector<std::byte> room;
  CHECK(memory.bytes_at(0x1ff0, 16, room).data() == memory.run_at(0x1ff0).data());
  const auto both = memory.bytes_at(0x1ff0, 32, room);
  REQUIRE(both.size() == 32);
  CHECK(first_of(both) == 2);
  CHECK(first_of(both.subspan(16)) == 1);
  CHECK(memory.bytes_at(0x3ff0, 32, room).size() == 16);
  CHECK(memory.bytes_at(0xfff, 1, room).empty());
}

TEST_CASE("callback memory asks for each page once, and remembers failures") {
  unsigned calls = 0;
  const CallbackMemory memory([&](Address address, std::size_t size) -> Bytes {
    ++calls;
    CHECK(address % 4096 + size <= 4096);
    return address >= 0x1000 && address < 0x3000 ? filled(size, 7) : Bytes{};
  });
  const auto run = memory.run_at(0x1004);
  CHECK(run.size() == 4096 - 4);
  CHECK(memory.read_unsigned(0x1ffc, 8, Endian::little) == 0x0707070707070707U);
  CHECK(calls == 2);
  CHECK(memory.run_at(0x1004).data() == run.data());
  CHECK(calls == 2);
  for (int i = 0; i < 100; ++i) {
    CHECK(memory.run_at(0x9000).empty());
  }
  CHECK(calls <= 6);
  CHECK_FALSE(memory.read_unsigned(0x2ffc, 8, Endian::little).has_value());
}

TEST_CASE("callback memory takes the readable parts of a page") {
  // Readable from 0x1400 to 0x1900 only.
  const CallbackMemory memory([](Address address, std::size_t size) -> Bytes {
    if (address < 0x1400 || address >= 0x1900) {
      return {};
    }
    return filled(std::min<std::size_t>(size, 0x1900 - address), 3);
  });
  CHECK(memory.run_at(0x1000).empty());
  const auto high = memory.run_at(0x1800);
  CHECK(high.size() == 0x100);
  CHECK(memory.run_at(0x1500).size() == 0x300);
  CHECK(memory.run_at(0x1900).empty());
  CHECK(memory.run_at(0x1800).data() == high.data());
}

TEST_CASE("callback memory without a reader, or with one that gives too much") {
  CHECK(CallbackMemory(nullptr).run_at(0).empty());
  const CallbackMemory generous([](Address, std::size_t size) { return filled(size + 99, 1); });
  CHECK(generous.run_at(4095).size() == 1);
}

TEST_CASE("process memory reads a process") {
  static const std::uint64_t word = 0x1122334455667788U;
  const ProcessMemory memory(::getpid());
  CHECK(memory.read_unsigned(reinterpret_cast<Address>(&word), 8, Endian::little) == word);
  CHECK(memory.run_at(0x10).empty());
  CHECK(memory.run_at(~Address{0} - 4).empty());
  CHECK_THROWS_AS(ProcessMemory(-1), Error);
}
