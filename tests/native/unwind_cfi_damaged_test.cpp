// Damaged call frame programs: rows before the damage stay, nothing is believed after it.
#include <doctest/doctest.h>

#include <random>

#include "unwind_cfi_text.h"

namespace whocall::test {
namespace {

const char* const kUntilDamage = "0x1000 rsp+8 rip=c-8 | 0x1004";

// A good row, then the damage.
std::string after_a_row(const Bytes& damage) {
  return compiled(usual_cie(),
                  Bytes{dw::CFA_advance_loc | 4U, dw::CFA_def_cfa_offset, 16}.append(damage));
}

TEST_CASE("damaged cfi: an unknown instruction ends the rows") {
  for (const unsigned op : {0x17U, 0x1cU, 0x20U, 0x2cU, 0x30U, 0x3fU}) {
    CAPTURE(op);
    CHECK(after_a_row(Bytes().u8(op)) == kUntilDamage);
  }
}

TEST_CASE("damaged cfi: operands that are cut off") {
  CHECK(after_a_row({dw::CFA_def_cfa, 7}) == kUntilDamage);
  CHECK(after_a_row({dw::CFA_offset | 3U}) == kUntilDamage);
  CHECK(after_a_row({dw::CFA_def_cfa_offset, 0x80}) == kUntilDamage);
  CHECK(after_a_row({dw::CFA_def_cfa_expression, 5, dw::OP_lit0}) == kUntilDamage);
  CHECK(after_a_row(Bytes{dw::CFA_expression, 3}.uleb(~std::uint64_t{0})) == kUntilDamage);
}

TEST_CASE("damaged cfi: a cut-off advance claims no addresses") {
  for (const unsigned op : {unsigned{dw::CFA_advance_loc1}, unsigned{dw::CFA_advance_loc2},
                            unsigned{dw::CFA_advance_loc4}, unsigned{dw::CFA_set_loc}}) {
    CAPTURE(op);
    CHECK(after_a_row(Bytes().u8(op)) == kUntilDamage);
  }
}

TEST_CASE("damaged cfi: restoring what nobody remembered, remembering without end") {
  CHECK(after_a_row({dw::CFA_restore_state}) == kUntilDamage);
  CHECK(after_a_row({dw::CFA_remember_state, dw::CFA_restore_state, dw::CFA_restore_state}) ==
        kUntilDamage);
  CHECK(after_a_row(Bytes().fill(100000, dw::CFA_remember_state)) == kUntilDamage);
}

TEST_CASE("damaged cfi: a damaged CIE gives no rows at all") {
  CHECK(compiled({dw::CFA_def_cfa, 7}, {dw::CFA_advance_loc | 4U}) == "0x1000");
  CHECK(compiled({0x3f}, {}) == "0x1000");
}

TEST_CASE("damaged cfi: a program that defines no CFA says so in its rows") {
  CHECK(compiled({}, {}) == "0x1000 u | 0x1100");
}

TEST_CASE("damaged cfi: random programs give ascending rows without gaps inside the function") {
  std::mt19937 random(20240229);  // always the same bytes
  for (int round = 0; round < 20000; ++round) {
    Bytes program;
    const std::size_t size = random() % 48;
    for (std::size_t i = 0; i < size; ++i) {
      program.u8(random() & 0xffU);
    }
    const std::string text = compiled(usual_cie(), program, {1 + random() % 4, -8});
    if (text.find("GAP") != std::string::npos) {
      FAIL(text);
    }
  }
}

}  // namespace
}  // namespace whocall::test
