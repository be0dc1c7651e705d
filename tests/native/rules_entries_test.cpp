// CIEs and FDEs that few write: the walker and a process that asks about itself read the same.
#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "base/hex.h"
#include "base_bytes.h"
#include "object/byte_span.h"
#include "object/call_frame_info.h"

namespace whocall::test {
namespace {

constexpr Address kSection = 0x2000;

struct Letters {
  std::string letters;
  Bytes before{};  // what stands between version and factors beside the letters
  Bytes data{};    // behind the return address
};

// .eh_frame of one CIE and one FDE, whose body is `code`.
Bytes section_of(const Letters& said, const Bytes& code) {
  Bytes cie = Bytes().u32(0).u8(1).text(said.letters).append(said.before);
  cie.uleb(1).sleb(-8).u8(16).append(said.data);
  Bytes section = Bytes().u32(cie.size()).append(cie);
  const std::size_t distance = section.size() + 4;
  return section.u32(4 + code.size()).u32(distance).append(code);
}

Bytes wide(Address begin, std::uint64_t size) { return Bytes().u64(begin).u64(size); }

// What both find at an address: the code that is covered. "none" where nothing is.
std::string found(const Bytes& section, Address address, bool debug = false,
                  FrameContext context = {}) {
  const CallFrameInfo info(
      debug ? CallFrameInfo::Format::debug_frame : CallFrameInfo::Format::eh_frame,
      {section.view(), debug ? 0 : kSection}, std::nullopt, 8, context);
  std::optional<AddressRange> range;
  if (const auto fde = info.find(address)) {
    range = fde->range;
  }
  const rules::FrameEntries entries{.bytes = span_of(section.view(), debug ? 0 : kSection),
                                    .debug = debug};
  std::optional<AddressRange> own;
  rules::FrameEntry entry;
  for (std::uint64_t place = 0; rules::read_entry(entries, place, entry); place = entry.next) {
    rules::WholeDescription description;
    if (rules::read_description(entries, place, description)) {
      own = AddressRange{description.fde.begin, description.fde.end};
    }
  }
  if (context.text == 0 && context.data == 0) {  // which a process is not told
    CHECK(own == range);
  } else {
    CHECK_FALSE(own);
  }
  return range ? hex(range->begin) + " " + hex(range->end) : "none";
}

}  // namespace

TEST_CASE("entries: letters of an augmentation") {
  CHECK(found(section_of({""}, wide(0x1000, 0x10)), 0x1000) == "0x1000 0x1010");
  CHECK(found(section_of({"eh", Bytes().u64(7)}, wide(0x1000, 0x10)), 0x1000) == "0x1000 0x1010");
  // GCC of other vendors writes no size before its letters.
  CHECK(found(section_of({"R", {}, {0x03}}, Bytes().u32(0x1000).u32(0x10)), 0x1000) ==
        "0x1000 0x1010");
  CHECK(found(section_of({"q"}, wide(0x1000, 0x10)), 0x1000) == "none");
}

TEST_CASE("entries: behind a letter that nobody knows no other is read") {
  const Bytes code = wide(0x1000, 0x10).u8(0);
  CHECK(found(section_of({"zXR", {}, {2, 0x1b, 0x1b}}, code), 0x1000) == "0x1000 0x1010");
  // Of a pointer to a routine only the size matters, whatever it is relative to.
  CHECK(found(section_of({"zPR", {}, {6, 0xc3, 1, 2, 3, 4, 0x03}},
                         Bytes().u32(0x1000).u32(0x10).u8(0)),
              0x1000) == "0x1000 0x1010");
  const Bytes tagged = Bytes().u32(0x1000).u32(0x10).u8(0);
  CHECK(found(section_of({"zGR", {}, {1, 0x03}}, tagged), 0x1000) == "0x1000 0x1010");
}

TEST_CASE("entries: augmentation data that are not all there") {
  const Bytes code = Bytes().u32(0x1000).u32(0x10).u8(0);
  CHECK(found(section_of({"zR", {}, {1, 0x03}}, code), 0x1000) == "0x1000 0x1010");
  CHECK(found(section_of({"zR", {}, {9, 0x03}}, code), 0x1000) == "none");
  CHECK(found(section_of({"zR", {}, {0, 0x03}}, code), 0x1000) == "none");
  CHECK(found(section_of({"zR", {}, {1, 0x03}}, Bytes().u32(0x1000).u32(0x10).u8(9)), 0x1000) ==
        "none");
}

TEST_CASE("entries: what addresses are written with and relative to") {
  const auto at = [](unsigned encoding, const Bytes& code, FrameContext context = {}) {
    Bytes body = code;
    return found(section_of({"zR", {}, Bytes().u8(1).u8(encoding)}, body.u8(0)), 0x1004, false,
                 context);
  };
  CHECK(at(0x00, wide(0x1000, 0x10)) == "0x1000 0x1010");
  CHECK(at(0x08, wide(0x1000, 0x10)) == "0x1000 0x1010");
  CHECK(at(0x02, Bytes().u16(0x1000).u16(0x10)) == "0x1000 0x1010");
  CHECK(at(0x01, Bytes().uleb(0x1000).uleb(0x10)) == "0x1000 0x1010");
  CHECK(at(0x1b, Bytes().u32(0).u32(0x10)) == "none");  // never relocated
  // Relative to .text or the GOT, of which a process is told nothing.
  CHECK(at(0x2b, Bytes().u32(0x100).u32(0x10)) == "none");
  CHECK(at(0x3b, Bytes().u32(0x100).u32(0x10)) == "none");
  FrameContext known;
  known.text = 0xf00;
  CHECK(at(0x2b, Bytes().u32(0x100).u32(0x10), known) == "0x1000 0x1010");
}

TEST_CASE("entries: code that would wrap ends with the address space") {
  const Bytes code = wide(~Address{0xf}, 0x100);
  CHECK(found(section_of({""}, code), ~Address{0xf}) == "0xfffffffffffffff0 0xffffffffffffffff");
}

TEST_CASE("entries: .debug_frame in DWARF's 64-bit form, and with sizes of its own") {
  const Bytes cie = Bytes().u64(~std::uint64_t{0}).u8(1).text("").uleb(1).sleb(-8).u8(16);
  Bytes section = Bytes().u32(0xffffffff).u64(cie.size()).append(cie);
  section.u32(0xffffffff).u64(8 + 16).u64(0).append(wide(0x1000, 0x10));
  CHECK(found(section, 0x100f, true) == "0x1000 0x1010");

  // Version 4: addresses of 4 bytes, behind segments of 2.
  const Bytes four = Bytes().u32(0xffffffff).u8(4).text("").u8(4).u8(2).uleb(1).sleb(-8).uleb(16);
  Bytes small = Bytes().u32(four.size()).append(four);
  small.u32(4 + 10).u32(0).u16(0).u32(0x1000).u32(0x10);
  CHECK(found(small, 0x100f, true) == "0x1000 0x1010");
}

}  // namespace whocall::test
