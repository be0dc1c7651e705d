// Instructions of 16 bits, and the ones of 32 that they stand for.
#include <doctest/doctest.h>

#include "arch/riscv/decoder.h"
#include "arch/riscv/expanded.h"
#include "arch/riscv/fields.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

struct Pair {
  std::uint32_t parcel;
  std::uint32_t word;
};
// As GNU as makes both of the same line; of c.mv, which it makes an addi, as the manual has it.
constexpr Pair kPairs[] = {
    {0x0808, 0x01010513}, {0x450c, 0x00852583}, {0x650c, 0x00853583}, {0x250c, 0x00853587},
    {0xc14c, 0x00b52223}, {0xe90c, 0x00b53823}, {0xa90c, 0x00b53827}, {0x1575, 0xffd50513},
    {0x2515, 0x0055051b}, {0x5565, 0xff900513}, {0x7139, 0xfc010113}, {0x617d, 0x1f010113},
    {0x7505, 0xfffe1537}, {0x9105, 0x02155513}, {0x850d, 0x40355513}, {0x9979, 0xffe57513},
    {0x8d0d, 0x40b50533}, {0x8d2d, 0x00b54533}, {0x8d4d, 0x00b56533}, {0x8d6d, 0x00b57533},
    {0x9d0d, 0x40b5053b}, {0x9d2d, 0x00b5053b}, {0x1e22, 0x028e1e13}, {0x24b2, 0x10813487},
    {0x44b2, 0x00c12483}, {0x70fe, 0x1f813083}, {0x8082, 0x00008067}, {0x893e, 0x00f00933},
    {0x9002, 0x00100073}, {0x9302, 0x000300e7}, {0x993e, 0x00f90933}, {0xac26, 0x00913c27},
    {0xdff2, 0x0fc12e23}, {0xff06, 0x1a113c23}, {0x0001, 0x00000013},
};
// Zcb, by the manual: c.lbu a1,3(a0); c.lh a1,2(a0); c.sb a1,1(a0); c.mul a0,a1; c.zext.b a0; c.not
// a0; c.zext.w a0
constexpr Pair kOfBytes[] = {
    {0x816c, 0x00354583}, {0x856c, 0x00251583}, {0x894c, 0x00b500a3}, {0x9d4d, 0x02b50533},
    {0x9d61, 0x0ff57513}, {0x9d75, 0xfff54513}, {0x9d71, 0x0805053b},
};

TEST_CASE(
    "expanded RISC-V: each stands for the one that an assembler makes without the extension") {
  for (const Pair& pair : kPairs) {
    INFO("parcel " << pair.parcel);
    CHECK(riscv::expanded(pair.parcel) == pair.word);
  }
  for (const Pair& pair : kOfBytes) {
    INFO("parcel " << pair.parcel);
    CHECK(riscv::expanded(pair.parcel) == pair.word);
  }
}

TEST_CASE("expanded RISC-V: jumps go as far, and backward") {
  riscv::Decoder decoder;
  const auto target = [&](std::uint32_t parcel) {
    const auto decoded = decoder.decode(Bytes().u16(parcel).view(), 0x10000);
    REQUIRE(decoded.has_value());
    CHECK(decoded->size == 2);
    return decoded->target;
  };
  CHECK(target(0xcd7d) == 0x10000 + 0xfe);   // beqz
  CHECK(target(0xf3a1) == 0x10000 - 0xc0);   // bnez
  CHECK(target(0xa6d5) == 0x10000 + 0x3e4);  // j
  CHECK(target(0xb99d) == 0x10000 - 0x38a);
}

TEST_CASE("expanded RISC-V: what is reserved is none") {
  for (const std::uint32_t parcel :
       {0x0000U, 0x2005U, 0x6101U, 0x6501U, 0x6002U, 0x8002U, 0x9d79U}) {
    INFO("parcel " << parcel);
    CHECK_FALSE(riscv::expanded(parcel).has_value());
  }
}

}  // namespace
}  // namespace whocall::test
