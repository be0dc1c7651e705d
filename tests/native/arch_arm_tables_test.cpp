// Where the cases of a switch begin, by the tables that compilers for ARM put into the code.
#include "arch/arm/tables.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "arch/arm/decoder.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

constexpr Address kAt = 0x10000;
using Targets = std::vector<Address>;

// Nothing of interest for 32 bytes, then `code`.
Bytes behind_others(std::initializer_list<unsigned> halves) {
  Bytes code;
  for (int i = 0; i < 16; ++i) {
    code.u16(0x4628);  // mov r0, r5
  }
  for (const unsigned half : halves) {
    code.u16(half);
  }
  return code;
}

CodeReader reader_of(const Bytes& code) {
  return [bytes = code.view().bytes()](Address address, std::span<std::byte> out) -> std::size_t {
    if (address < kAt || address - kAt >= bytes.size()) {
      return 0;
    }
    const auto rest = bytes.subspan(address - kAt);
    const std::size_t size = std::min(rest.size(), out.size());
    std::ranges::copy(rest.first(size), out.begin());
    return size;
  };
}

arm::CaseTable table_at(const Bytes& code, std::uint64_t offset, bool thumb = true) {
  return arm::case_table(reader_of(code), kAt + offset, thumb);
}

// subs r3, #1; cmp r3, #3; bhi; tbb [pc, r3]; .byte 0x76, 0x43, 0x91, 0x0c; two constants
TEST_CASE("arm tables: bytes behind tbb, as many as are compared") {
  const Bytes code = behind_others(
      {0x3b01, 0x2b03, 0xd826, 0xe8df, 0xf003, 0x4376, 0x0c91, 0x4c16, 0x0004, 0x4bfa, 0x0004});
  const auto table = table_at(code, 38);
  const Address first = kAt + 42;
  CHECK(table.words == AddressRange{first, first + 4});
  CHECK(table.targets ==
        Targets{first + 2 * 0x76, first + 2 * 0x43, first + 2 * 0x91, first + 2 * 0xc});
  arm::Decoder decoder(reader_of(code));
  const auto jump = decoder.decode(code.view().from(38), kAt + 38);
  REQUIRE(jump.has_value());
  CHECK(jump->size == 8);
}

// cmp.w r8, #2; bhi; tbh [pc, r8, lsl #1]; .short 3, 0x120, 9
TEST_CASE("arm tables: half words behind tbh, the index in a high register") {
  const Bytes code =
      behind_others({0xf1b8, 0x0f02, 0xd826, 0xe8df, 0xf018, 0x0003, 0x0120, 0x0009});
  const auto table = table_at(code, 38);
  const Address first = kAt + 42;
  CHECK(table.words == AddressRange{first, first + 6});
  CHECK(table.targets == Targets{first + 6, first + 0x240, first + 18});
}

// Where data are big-endian, tables are data.
TEST_CASE("arm tables: half words and bytes of BE8") {
  const Bytes halves = behind_others({0x2b01, 0xd826, 0xe8df, 0xf013, 0x0300, 0x2001});
  const Address first = kAt + 40;
  CHECK(arm::case_table(reader_of(halves), kAt + 36, true, Endian::big).targets ==
        Targets{first + 6, first + 0x240});
  const Bytes bytes = behind_others({0x2b01, 0xd826, 0xe8df, 0xf003, 0x0402});
  CHECK(arm::case_table(reader_of(bytes), kAt + 36, true, Endian::big).targets ==
        Targets{first + 4, first + 8});
}

// An odd number of bytes is filled up.
TEST_CASE("arm tables: three bytes behind tbb") {
  const Bytes code = behind_others({0x2b02, 0xd826, 0xe8df, 0xf003, 0x0402, 0x0006, 0xbf00});
  const auto table = table_at(code, 36);
  CHECK(table.words == AddressRange{kAt + 40, kAt + 44});
  CHECK(table.targets == Targets{kAt + 44, kAt + 48, kAt + 52});
}

// cmp r3, #2; bhi; adr r4, table; ldr.w r3, [r4, r3, lsl #2]; add r4, r3; bx r4; nop; three words
TEST_CASE("arm tables: words relative to the table, with the bit of the mode") {
  const Bytes code = behind_others({0x2b02, 0xd8d6, 0xa402, 0xf854, 0x3023, 0x441c, 0x4720, 0xbf00,
                                    0x0049, 0x0000, 0x0057, 0x0000, 0xff7b, 0xffff});
  const Address first = kAt + 48;
  const auto table = table_at(code, 44);
  CHECK(table.words == AddressRange{first, first + 12});
  CHECK(table.targets == Targets{first + 0x48, first + 0x56, first - 0x86});
  arm::Decoder decoder(reader_of(code));
  CHECK(decoder.constants(code.view().from(44), kAt + 44) == table.words);
}

// cmp r3, #2; addls pc, pc, r3, lsl #2; b (all other cases); b; b; b
TEST_CASE("arm tables: jumps behind a sum with pc") {
  const Bytes code = behind_others({0x0002, 0xe353, 0xf103, 0x908f, 0x0008, 0xea00, 0x0001, 0xea00,
                                    0x0001, 0xea00, 0x0001, 0xea00});
  CHECK(table_at(code, 36, false).targets == Targets{kAt + 40, kAt + 44, kAt + 48, kAt + 52});
}

TEST_CASE("arm tables: nothing is guessed where no comparison tells how many") {
  const Bytes code = behind_others({0xd826, 0xe8df, 0xf003, 0x0202, 0x4770});
  CHECK(table_at(code, 34).targets.empty());
  CHECK(table_at(code, 34).words.empty());
  CHECK(arm::length_by_cases(code.view().from(34)) == 4);  // the nearest case ends it
}

TEST_CASE("arm tables: a table that cannot be read is none") {
  const Bytes code = behind_others({0x2bff, 0xd826, 0xe8df, 0xf003, 0x0202});
  CHECK(table_at(code, 36).targets.empty());
  CHECK(arm::case_table(CodeReader(), kAt, true).targets.empty());
  CHECK(arm::length_by_cases(code.view().from(36)) == 0);
}

}  // namespace
}  // namespace whocall::test
