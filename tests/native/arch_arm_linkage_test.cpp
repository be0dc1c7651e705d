// Calls, stubs and start-up code of ARM, as gcc, ld and glibc write them.
#include "arch/arm/linkage.h"

#include <doctest/doctest.h>

#include "arch/arm/code.h"
#include "arch/arm/facts.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

constexpr Address kAt = 0x10000;

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

TEST_CASE("arm linkage: slots of the PLT, and stubs of linkers") {
  // add ip,pc,#0,12; add ip,ip,#4096; ldr pc,[ip,#2048]!
  const Bytes slot = words({0xe28fc600, 0xe28cca01, 0xe5bcf800});
  CHECK(arm::jump_stub(slot.view(), kAt)->slot == Address{kAt + 8 + 0x1000 + 0x800});
  Bytes from_t32 = halves({0x4778, 0x46c0});  // bx pc; nop
  from_t32.append(slot);
  CHECK(arm::jump_stub(from_t32.view(), kAt)->slot == Address{kAt + 4 + 8 + 0x1000 + 0x800});
  CHECK(arm::jump_stub(words({0xe51ff004, 0x20001}).view(), kAt)->target == Address{0x20000});
  CHECK(arm::jump_stub(halves({0xf8df, 0xf000, 0x0001, 0x0002}).view(), kAt)->target ==
        Address{0x20000});
  CHECK(arm::jump_stub(words({0xea00000e}).view(), kAt)->target == Address{kAt + 0x40});
  CHECK_FALSE(arm::jump_stub(words({0xe1a0c00d, 0xe92dd800}).view(), kAt));
  CHECK_FALSE(arm::jump_stub(Bytes{0xe2}.view(), kAt));
}

TEST_CASE("arm linkage: the call before a return address, in either mode") {
  const auto call = [](const Bytes& before, Address behind) {
    return arm::call_before(before.view(), behind);
  };
  CHECK(call(halves({0xf000, 0xf8fe}), kAt)->target == Address{kAt + 0x1fc});      // bl
  CHECK(call(halves({0xf000, 0xe8fe}), kAt + 2)->target == Address{kAt + 0x1fc});  // blx to A32
  CHECK(call(halves({0x1c60, 0x4798}), kAt)->indirect);                            // blx r3
  CHECK(call(halves({0x1c60, 0x4798}), kAt)->size == 2);
  CHECK(call(words({0xeb00003e}), kAt)->target == Address{kAt + 0xfc});
  CHECK(call(words({0xe12fff33}), kAt)->indirect);
  CHECK_FALSE(call(words({0xe12fff33}), kAt + 2));  // A32 stands at multiples of 4
  CHECK_FALSE(call(words({0xe12fff1e}), kAt));
  CHECK_FALSE(call(halves({0x4770, 0xbf00}), kAt));
}

TEST_CASE("arm linkage: the flow ends at returns and jumps of either mode") {
  CHECK(arm::flow_ends(halves({0x1c60, 0x4770}).view()));
  CHECK(arm::flow_ends(halves({0x4770, 0xbf00}).view()));  // and a nop behind it
  CHECK(arm::flow_ends(words({0xe12fff1e}).view()));
  CHECK(arm::flow_ends(words({0xe8bd8010}).view()));
  CHECK_FALSE(arm::flow_ends(words({0xe2840001}).view()));
  CHECK_FALSE(arm::flow_ends(halves({0x1c60, 0x1c60}).view()));
  CHECK_FALSE(arm::flow_ends(Bytes().view()));
}

TEST_CASE("arm linkage: glibc's _start names the slot of main") {
  Bytes code = halves({0xf04f, 0x0b00, 0xf04f, 0x0e00, 0xbc02, 0x466a, 0xb404, 0xb401,
                       0xf8df, 0xa018, 0xa305, 0x449a, 0xf04f, 0x0300, 0xb408, 0x4804,
                       0xf85a, 0x0000, 0xf7ff, 0xefd2, 0xf7ff, 0xefe2});
  code.append(words({0x1bf4, 0x28}));
  CHECK(arm::startup(code.view(), 0x3e0)->main_slot == Address{0x40c + 0x1bf4 + 0x28});
  CHECK_FALSE(arm::startup(code.view().from(2), 0x3e2));
  CHECK_FALSE(arm::startup(code.view().slice(0, 40).value(), 0x3e0));
}

TEST_CASE("arm: code pointers are addresses without the bit of their mode") {
  CHECK(kArm.code_address(0x10001) == 0x10000);
}

}  // namespace
}  // namespace whocall::test
