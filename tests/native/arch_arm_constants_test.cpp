// What ARM code names, as gcc writes it: literal pools, halves, distances from the code, anchors.
#include "arch/arm/constants.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "arch/arm/facts.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

constexpr Address kAt = 0x10000;
constexpr AddressRange kWanted{0x20000, 0x21000};

Bytes halves(std::initializer_list<std::uint32_t> all) {
  Bytes bytes;
  for (const std::uint32_t half : all) {
    bytes.u16(half);
  }
  return bytes;
}
Bytes words(std::initializer_list<std::uint32_t> all) {
  Bytes bytes;
  for (const std::uint32_t word : all) {
    bytes.u32(word);
  }
  return bytes;
}

std::vector<ConstantAddress> taken(const Bytes& code, bool fixed = false) {
  std::vector<ConstantAddress> found;
  kArm.code.append_constant_addresses(code.view(), kAt, {}, fixed, kWanted, found);
  return found;
}

TEST_CASE("arm constants: a literal and the pc, and another constant counted from there") {
  // push {r4,lr}; ldr r3,[pc,#8]; add r3,pc,r3; add r3,r3,#16; pop {r4,pc}; .word
  const auto a32 =
      taken(words({0xe92d4010, 0xe59f3008, 0xe08f3003, 0xe2833010, 0xe8bd8010, 0x20100 - 0x10010}));
  REQUIRE(a32.size() == 2);
  CHECK(a32[0].at == kAt + 8);
  CHECK(a32[0].value == 0x20100);
  CHECK(a32[0].destination == Register{3});
  CHECK(a32[1].at == kAt + 12);
  CHECK(a32[1].value == 0x20110);
  // push {r3,lr}; ldr r3,[pc,#8]; add r3,pc; adds r3,#16; nop; pop {r3,pc}; .word
  Bytes t32 = halves({0xb508, 0x4b02, 0x447b, 0x3310, 0xbf00, 0xbd08});
  const auto found = taken(t32.u32(0x20100 - 0x10008));
  REQUIRE(found.size() == 2);
  CHECK(found[0].at == kAt + 4);
  CHECK(found[0].value == 0x20100);
  CHECK(found[1].value == 0x20110);
}

TEST_CASE("arm constants: numbers are addresses only where code stands at fixed ones") {
  // push {r4,lr}; ldr r0,[pc,#4]; bl; pop {r4,pc}; .word
  const Bytes literal = words({0xe92d4010, 0xe59f0004, 0xebfffffe, 0xe8bd8010, 0x20800});
  CHECK(taken(literal).empty());
  REQUIRE(taken(literal, true).size() == 1);
  CHECK(taken(literal, true)[0].value == 0x20800);
  // push {r4,lr}; movw r0,#0x0123; movt r0,#2; bl; pop {r4,pc}
  const Bytes parts = words({0xe92d4010, 0xe3000123, 0xe3400002, 0xebfffffe, 0xe8bd8010});
  CHECK(taken(parts).empty());
  REQUIRE(taken(parts, true).size() >= 1);
  CHECK(taken(parts, true).back().value == 0x20123);
  CHECK(taken(parts, true).back().at == kAt + 8);
  // push {r3,lr}; movw r1,#0x0123; movt r1,#2; pop {r3,pc}
  const Bytes wide = halves({0xb508, 0xf240, 0x1123, 0xf2c0, 0x0102, 0xbd08});
  REQUIRE(taken(wide, true).size() >= 1);
  CHECK(taken(wide, true).back().value == 0x20123);
}

TEST_CASE("arm constants: calls and ends forget what registers held") {
  // push {r4,lr}; ldr r3,[pc,#12]; bl; add r3,pc,r3; pop {r4,pc}; .word
  const auto lost = taken(words(
      {0xe92d4010, 0xe59f300c, 0xebfffffe, 0xe08f3003, 0xe8bd8010, 0xe8bd8010, 0x20100 - 0x10014}));
  CHECK(lost.empty());
  // with r4, which calls keep
  const auto kept = taken(words(
      {0xe92d4010, 0xe59f400c, 0xebfffffe, 0xe08f4004, 0xe8bd8010, 0xe8bd8010, 0x20100 - 0x10014}));
  CHECK(kept.size() == 1);
}

TEST_CASE("arm constants: what instructions read counts as named") {
  // push {r4,lr}; ldr r3,[pc,#8]; ldr r0,[pc,r3]; nop; pop {r4,pc}; .word
  const Bytes code =
      words({0xe92d4010, 0xe59f3008, 0xe79f0003, 0xe1a00000, 0xe8bd8010, 0x20100 - 0x10010});
  std::vector<Address> found;
  kArm.code.append_named_addresses(code.view(), kAt, {}, false, kWanted, found);
  CHECK(found == std::vector<Address>{0x20100});
  CHECK(taken(code).empty());
}

TEST_CASE("arm constants: literal pools of BE8 are big-endian") {
  Bytes code = words({0xe92d4010, 0xe59f3008, 0xe08f3003, 0xe1a00000, 0xe8bd8010});
  for (const unsigned byte : {0x00U, 0x01U, 0x00U, 0xf0U}) {
    code.u8(byte);
  }
  std::vector<ConstantAddress> found;
  kArmeb.code.append_constant_addresses(code.view(), kAt, {}, false, kWanted, found);
  REQUIRE(found.size() == 1);
  CHECK(found[0].value == 0x20100);
}

TEST_CASE("arm constants: a function that begins by loading is found behind constants") {
  // push {r4,lr}; ldr r0,[pc,#4]; bl; pop {r4,pc}; .word; cmp r0,#3; push {r4,lr}; pop {r4,pc}
  const Bytes code = words({0xe92d4010, 0xe59f0004, 0xebfffffe, 0xe8bd8010, 0x20800, 0xe3500003,
                            0xe92d4010, 0xe8bd8010});
  StartMarks marks;
  kArm.code.append_start_marks(code.view(), kAt, marks);
  CHECK(std::ranges::count(marks.prologues, kAt + 20) == 1);
  CHECK(kArm.code.features_at_start(code.view(), 20).behind_end);
  CHECK_FALSE(kArm.code.features_at_start(code.view(), 24).behind_end);
  // A jump of the same function leads there: its slow path.
  const Bytes jumped = words({0xe3500000, 0x0a000003, 0xe59f0000, 0xe12fff1e, 0x20800, 0xe3500003,
                              0xe3500003, 0xe92d4010, 0xe8bd8010});
  StartMarks other;
  kArm.code.append_start_marks(jumped.view(), kAt, other);
  CHECK(std::ranges::count(other.prologues, kAt + 24) == 0);
}

}  // namespace
}  // namespace whocall::test
