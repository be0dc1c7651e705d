// The unwinding instructions of ARM's exception tables, by section 10.3 of EHABI.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "arch/arm/facts.h"
#include "unwind/rows/exidx_program.h"

namespace whocall::test {
namespace {

using Kind = ExidxEntry::Kind;
using Instructions = std::vector<std::uint8_t>;

// "sp+8 r4 c-8 lr c-4": the CFA and where registers lie; empty where there is no row.
std::string row_of(Instructions instructions) {
  const auto row = compile({{0x1000, 0x2000}, Kind::inlined, instructions}, kArm);
  if (!row) {
    return {};
  }
  CHECK(row->range == AddressRange{0x1000, 0x2000});
  CHECK(row->return_address == 14);
  std::string text = to_string(row->cfa, kArm);
  for (const NamedRule& named : row->rules) {
    text +=
        " " + std::string(kArm.registers.names[named.number]) + " " + to_string(named.rule, kArm);
  }
  return text;
}

TEST_CASE("exception program: the stack pointer moves by immediate amounts") {
  CHECK(row_of({0x00, 0xb0}) == "sp+4");
  CHECK(row_of({0x3f, 0xb0}) == "sp+256");
  CHECK(row_of({0x40, 0xb0}) == "sp-4");
  CHECK(row_of({0x7f, 0xb0}) == "sp-256");
  CHECK(row_of({0xb2, 0x00, 0xb0}) == "sp+516");
  CHECK(row_of({0xb2, 0x81, 0x01, 0xb0}) == "sp+1032");
}

TEST_CASE("exception program: registers are popped in ascending order") {
  CHECK(row_of({0x01, 0xa8, 0xb0}) == "sp+16 r4 c-8 lr c-4");
  CHECK(row_of({0xa0, 0xb0}) == "sp+4 r4 c-4");
  CHECK(row_of({0xaf, 0xb0}) ==
        "sp+36 r4 c-36 r5 c-32 r6 c-28 r7 c-24 r8 c-20 r9 c-16 r10 c-12 r11 c-8 lr c-4");
  CHECK(row_of({0x84, 0x80, 0xb0}) == "sp+8 r11 c-8 lr c-4");
  CHECK(row_of({0x80, 0x01, 0xb0}) == "sp+4 r4 c-4");
  CHECK(row_of({0xb1, 0x0f, 0xb0}) == "sp+16 r0 c-16 r1 c-12 r2 c-8 r3 c-4");
}

TEST_CASE("exception program: what is popped into the pc is the return address") {
  CHECK(row_of({0x88, 0x00, 0xb0}) == "sp+4 lr c-4");
  CHECK(row_of({0x8c, 0x00, 0xb0}) == "sp+8 lr c-4");  // both; the pc's lies higher
  CHECK(row_of({0xb0}) == "sp+0");                     // it still is in lr
}

TEST_CASE("exception program: the stack pointer from another register, and popped") {
  CHECK(row_of({0x9b, 0x40, 0x84, 0x80, 0xb0}) == "r11+4 r11 c-8 lr c-4");
  CHECK(row_of({0x97, 0x01, 0xb0}) == "r7+8");
  CHECK(row_of({0x9d, 0xb0}).empty());                                  // reserved
  CHECK(row_of({0x9f, 0xb0}).empty());                                  // reserved
  CHECK(row_of({0xa8, 0x9b, 0xb0}).empty());                            // no rule says where r4 was
  CHECK(row_of({0x8a, 0x80, 0xb0}) == "sp+12 r11 c-12 sp c-8 lr c-4");  // r11, sp and pc
  CHECK(row_of({0x8a, 0x80, 0xa8, 0xb0}).empty());                      // from the caller's stack
}

TEST_CASE("exception program: of other register files only the sizes count") {
  CHECK(row_of({0xb3, 0x81, 0xb0}) == "sp+20");  // FSTMFDX d8, d9
  CHECK(row_of({0xb8, 0xb0}) == "sp+12");
  CHECK(row_of({0xbf, 0xb0}) == "sp+68");
  CHECK(row_of({0xc0, 0xb0}) == "sp+8");  // wR10
  CHECK(row_of({0xc5, 0xb0}) == "sp+48");
  CHECK(row_of({0xc6, 0x13, 0xb0}) == "sp+32");
  CHECK(row_of({0xc7, 0x0b, 0xb0}) == "sp+12");  // wCGR0, 1 and 3
  CHECK(row_of({0xc8, 0x01, 0xb0}) == "sp+16");  // VPUSH d16, d17
  CHECK(row_of({0xc9, 0x87, 0xb0}) == "sp+64");
  CHECK(row_of({0xd0, 0xb0}) == "sp+8");
  CHECK(row_of({0xd7, 0xb0}) == "sp+64");
  CHECK(row_of({0xb4, 0xa8, 0xb0}) == "sp+12 r4 c-8 lr c-4");  // an authentication code
  CHECK(row_of({0xb5, 0xa8, 0xb0}) == "sp+8 r4 c-8 lr c-4");
}

TEST_CASE("exception program: nothing behind finish, and the list may end without") {
  CHECK(row_of({0xb0, 0xa8, 0xff}) == "sp+0");
  CHECK(row_of({0xa8}) == "sp+8 r4 c-8 lr c-4");
}

TEST_CASE("exception program: refused, spare, cut off and beyond all bounds") {
  CHECK(row_of({}).empty());
  CHECK(row_of({0x80, 0x00}).empty());
  for (const std::uint8_t spare : Instructions{0xb6, 0xb7, 0xca, 0xcf, 0xd8, 0xdf, 0xe0, 0xff}) {
    CAPTURE(spare);
    CHECK(row_of({spare, 0xb0}).empty());
  }
  CHECK(row_of({0xb1, 0x00}).empty());
  CHECK(row_of({0xb1, 0x10}).empty());
  CHECK(row_of({0xc7, 0x00}).empty());
  CHECK(row_of({0xc7, 0x10}).empty());
  for (const std::uint8_t two :
       Instructions{0x80, 0x88, 0xb1, 0xb2, 0xb3, 0xc6, 0xc7, 0xc8, 0xc9}) {
    CAPTURE(two);
    CHECK(row_of({two}).empty());
  }
  CHECK(row_of({0xb2, 0xff, 0xff, 0xff, 0xff, 0x0f, 0xb0}).empty());
  CHECK(row_of({0xb2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}).empty());
  CHECK(row_of({0xa8, 0xa8, 0xb0}).empty());  // each register once
}

}  // namespace
}  // namespace whocall::test
