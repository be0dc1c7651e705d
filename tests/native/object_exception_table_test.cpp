// Where exceptions land, by tables that are right, cut off, and hostile.
#include <doctest/doctest.h>

#include <random>

#include "arch/x86/x86_64_facts.h"
#include "object/lsda.h"
#include "unwind_exidx.h"

namespace whocall::test {
namespace {

constexpr AddressRange kFunction{0x401000, 0x401100};
constexpr Address kTable = 0x409000;

std::vector<LandingPad> pads_by(const Bytes& table, Address at = kTable) {
  ExceptionFrames frames;
  frames.function(kFunction, at);
  const auto file = CodeFile(kX86_64)
                        .code(kFunction.begin, Bytes().fill(kFunction.size(), 0x90))
                        .section(frames.section())
                        .section({.name = ".gcc_except_table", .address = kTable, .bytes = table})
                        .file();
  const CallFrameInfo* info = eh_frame_of(*file);
  REQUIRE(info != nullptr);
  const auto fde = info->find(kFunction.begin);
  REQUIRE(fde.has_value());
  return landing_pads_of(*file, *fde);
}

TEST_CASE("exception table: call sites with a landing pad, in the table's order") {
  const auto pads = pads_by(exception_table({{0x10, 5, 0x80}, {0x20, 0x10, 0}, {0x40, 8, 0x90}}));
  REQUIRE(pads.size() == 2);
  CHECK(pads[0].calls == AddressRange{0x401010, 0x401015});
  CHECK(pads[0].address == 0x401080);
  CHECK(pads[1].calls == AddressRange{0x401040, 0x401048});
  CHECK(pads[1].address == 0x401090);
}

TEST_CASE("exception table: pads may lie in another part, from a base of their own") {
  const auto pads = pads_by(exception_table({{0x10, 5, 0x20}}, 0x402000));
  REQUIRE(pads.size() == 1);
  CHECK(pads[0].address == 0x402020);
}

TEST_CASE("exception table: the type table and other encodings of the call sites") {
  // A type table's offset is passed over; call sites of udata4.
  const Bytes sites = Bytes().u32(0x10).u32(5).u32(0x80).uleb(1);
  const Bytes table = Bytes{0xff, 0x9b}.uleb(300).u8(0x03).uleb(sites.size()).append(sites);
  const auto pads = pads_by(table);
  REQUIRE(pads.size() == 1);
  CHECK(pads[0].calls == AddressRange{0x401010, 0x401015});
  CHECK(pads[0].address == 0x401080);
}

TEST_CASE("exception table: a function that catches nothing has none") {
  CHECK(pads_by(exception_table({{0x10, 5, 0x80}}), 0).empty());
  CHECK(pads_by(exception_table({})).empty());
  CHECK(pads_by({}).empty());
  CHECK(pads_by(exception_table({{0x10, 5, 0x80}}), 0x7fff0000).empty());  // nothing is there
}

TEST_CASE("exception table: cut off anywhere it tells the call sites before") {
  const Bytes whole = exception_table({{0x10, 5, 0x80}, {0x20, 5, 0x90}}, 0x402000);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    Bytes part;
    part.append(std::vector<std::byte>(whole.get().begin(), whole.get().begin() + size));
    const auto pads = pads_by(part);
    CHECK(pads.size() <= 1);
  }
  CHECK(pads_by(whole).size() == 2);
}

TEST_CASE("exception table: call sites outside of the function count for nothing") {
  CHECK(pads_by(exception_table({{0x200, 5, 0x80}})).empty());
  CHECK(pads_by(exception_table({{0x10, 0x1000, 0x80}})).empty());
  CHECK(pads_by(exception_table({{~std::uint64_t{0}, 5, 0x80}})).empty());
  CHECK(pads_by(exception_table({{0x10, ~std::uint64_t{0}, 0x80}})).empty());
}

TEST_CASE("exception table: random bytes name no calls outside of the function") {
  std::minstd_rand random(1);
  for (int round = 0; round < 500; ++round) {
    Bytes table;
    for (int i = 0; i < 60; ++i) {
      table.u8(i == 0 || i == 1 ? 0xff : random() % 256);
    }
    for (const LandingPad& pad : pads_by(table)) {
      CHECK(kFunction.contains(pad.calls.begin));
      CHECK(pad.calls.end <= kFunction.end);
    }
  }
}

}  // namespace
}  // namespace whocall::test
