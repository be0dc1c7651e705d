// Files of one build on kernels with pages of several sizes.
#include <doctest/doctest.h>
#include <elf.h>

#include <array>
#include <vector>

#include "process/modules/loaded_object.h"

using namespace whocall;

namespace {

constexpr Address kBias = 0x7f1200000000;

ElfSegment loaded(std::uint32_t flags, std::uint64_t offset, Address address, std::uint64_t size) {
  ElfSegment segment;
  segment.type = PT_LOAD;
  segment.flags = flags;
  segment.offset = offset;
  segment.address = address;
  segment.file_size = size;
  segment.memory_size = size;
  return segment;
}

// As AArch64's linkers lay a library out: segments apart by the largest page.
std::array<ElfSegment, 2> library(std::uint64_t code_size) {
  return {loaded(PF_R | PF_X, 0, 0, code_size), loaded(PF_R | PF_W, 0x1fd58, 0x2fd58, 0x2e8)};
}

// What the kernel maps of it: whole pages.
std::vector<MappedPiece> mapped(std::span<const ElfSegment> segments, std::uint64_t page) {
  std::vector<MappedPiece> pieces;
  for (const ElfSegment& segment : segments) {
    const Address begin = segment.address / page * page;
    const Address end = (segment.address + segment.file_size + page - 1) / page * page;
    pieces.push_back({{kBias + begin, kBias + end},
                      segment.offset / page * page,
                      (segment.flags & PF_X) != 0,
                      false});
  }
  return pieces;
}

}  // namespace

TEST_CASE("a file without headers in memory is placed whatever the size of a page") {
  const auto segments = library(0x12345);
  for (const std::uint64_t page : {4096U, 16384U, 65536U}) {
    CAPTURE(page);
    CHECK(bias_of_pieces(segments, mapped(segments, page)) == kBias);
  }
}

TEST_CASE("another build, with more code than is mapped, is no build of any page's size") {
  const auto grown = library(0x1a345);
  CHECK_FALSE(bias_of_pieces(grown, mapped(library(0x12345), 4096)).has_value());
  CHECK_FALSE(bias_of_pieces(grown, mapped(library(0x12345), 16384)).has_value());
}
