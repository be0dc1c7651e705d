// How MIPS code takes addresses: by halves, and by words of the global offset table.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "arch/mips/facts.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr Address kCode = 0x8c0;
constexpr Address kTable = 0x10bb0;
constexpr AddressRange kConstants{0, 0x1000};

Bytes bytes_of(const Architecture& arch, const Words& list) {
  Bytes code(arch.abi.endian);
  for (const std::uint32_t word : list) {
    code.u32(word);
  }
  return code;
}

// A table whose words are 0x10 for each word behind its beginning.
GlobalTable table_of(const Architecture& arch) {
  const auto read = [&arch](Address address, std::span<std::byte> out) -> std::size_t {
    Bytes word(arch.abi.endian);
    word.fixed((address - kTable) / out.size() * 0x10, static_cast<unsigned>(out.size()));
    std::ranges::copy(word.get(), out.begin());
    return out.size();
  };
  return {kTable, read};
}

std::vector<ConstantAddress> taken(const Architecture& arch, const Words& list,
                                   Address address = kCode, AddressRange wanted = kConstants) {
  std::vector<ConstantAddress> found;
  const Bytes code = bytes_of(arch, list);
  arch.code.append_constant_addresses({code.get(), arch.abi.endian}, address, table_of(arch),
                                      address >= 0x400000, wanted, found);
  return found;
}

TEST_CASE("mips: constants lie behind words of the global offset table") {
  for (const Architecture* arch : {&kMips, &kMipsel}) {
    // lui gp,2; addiu gp,gp,-32032; addu gp,gp,t9; lw a0,-32740(gp); lw t9,-32704(gp);
    // jalr t9; addiu a0,a0,2856
    const Words code = {0x3c1c0002, 0x279c82e0, 0x0399e021, 0x8f84801c,
                        0x8f998040, 0x0320f809, 0x24840b28};
    const auto found = taken(*arch, code);
    REQUIRE(found.size() == 3);
    CHECK(found[0].slot == Address{0x10bbc});
    CHECK(found[0].value == 0x30);
    CHECK(found[1].destination == Register{25});
    CHECK(found[1].slot == Address{0x10be0});
    // In the delay slot: the unit is the call's.
    CHECK(found[2].at == kCode + 0x14);
    CHECK(found[2].value == 0xb58);
    CHECK(found[2].destination == Register{4});
    CHECK_FALSE(found[2].slot);
    // Code that sets another pointer uses another table.
    Words other = code;
    other[1] = 0x279c92e0;
    CHECK(taken(*arch, other).empty());
  }
  // daddiu sp; lui gp,2; daddu gp,gp,t9; daddiu gp,gp,-32032; ld a0,-32736(gp); daddiu a0,a0,8
  const auto wide =
      taken(kMips64el, {0x67bdffe0, 0x3c1c0002, 0x0399e02d, 0x679c82e0, 0xdf848020, 0x64840008});
  REQUIRE(wide.size() == 2);
  CHECK(wide[0].slot == Address{0x10bc0});
  CHECK(wide[1].value == 0x28);
}

TEST_CASE("mips: a call spoils what registers held") {
  // lw a0,-32740(gp); jalr t9; nop; addiu a0,a0,16, and the same of s0
  CHECK(taken(kMipsel, {0x8f84801c, 0x0320f809, 0, 0x24840010}).size() == 1);
  CHECK(taken(kMipsel, {0x8f90801c, 0x0320f809, 0, 0x26040010}).size() == 2);
  // beqzl v0; addiu a0,a0,16: may not have been run
  CHECK(taken(kMipsel, {0x8f84801c, 0x50400003, 0x24840010}).size() == 1);
  CHECK(taken(kMipsel, {0x8f84801c, 0x10400003, 0x24840010}).size() == 2);
}

TEST_CASE("mips: code at fixed addresses names constants by halves") {
  // lui a0,0x40; addiu a0,a0,2532
  const Words code = {0x3c040040, 0x248409e4};
  const auto found = taken(kMipsel, code, 0x400770, {0x400000, 0x401000});
  REQUIRE(found.size() == 1);
  CHECK(found[0].at == 0x400774);
  CHECK(found[0].value == 0x4009e4);
  CHECK(taken(kMipsel, {0x3c040000, 0x248409e4}).empty());  // a number
}

TEST_CASE("mips: operands name addresses") {
  // lui v0,0x41; lw v1,16(v0)
  std::vector<Address> found;
  const Bytes code = bytes_of(kMipsel, {0x3c020041, 0x8c430010});
  const AddressRange wanted{0x410000, 0x411000};
  kMipsel.code.append_named_addresses(code.view(), 0x400000, {}, true, wanted, found);
  CHECK(found == std::vector<Address>{0x410010});
  found.clear();
  kMipsel.code.append_named_addresses(code.view(), 0x400000, {}, false, wanted, found);
  CHECK(found.empty());
}

TEST_CASE("mips: tables of switches at fixed addresses") {
  // lui v0,0x40; sll v1,a0,2; addiu v0,v0,2544; addu v0,v0,v1; lw v0,0(v0); jr v0; nop
  const Words code = {0x3c020040, 0x00041880, 0x244209f0, 0x00431021, 0x8c420000, 0x00400008, 0};
  std::vector<Address> tables;
  kMipsel.code.append_jump_tables(bytes_of(kMipsel, code).view(), tables);
  CHECK(tables == std::vector<Address>{0x4009f0});
  // With the lower half in the load.
  tables.clear();
  kMipsel.code.append_jump_tables(
      bytes_of(kMipsel, {0x3c020040, 0x00431021, 0x8c4209f0, 0x00400008, 0}).view(), tables);
  CHECK(tables == std::vector<Address>{0x4009f0});
}

TEST_CASE("mips: code takes addresses of functions by the global offset table") {
  // lw a0,-32740(gp), a page; addiu a0,a0,2000: a function of the file
  const Bytes code = bytes_of(kMipsel, {0x8f84801c, 0x248407d0});
  std::vector<Address> found;
  kMipsel.code.append_named_addresses(code.view(), kCode, table_of(kMipsel), false, {0x700, 0x900},
                                      found);
  CHECK(found == std::vector<Address>{0x800});
}

TEST_CASE("mips: a function counts from its own beginning to the global pointer") {
  // lui v1,2; daddu v1,v1,t9; daddiu v1,v1,-32032; ld a2,-32736(v1)
  const Words code = {0x3c030002, 0x0079182d, 0x646382e0, 0xdc668020};
  const auto found = taken(kMips64el, code);
  REQUIRE(found.size() == 1);
  CHECK(found[0].slot == Address{0x10bc0});
  const auto begins_at = [&](const Words& list, Address address) {
    std::vector<Address> named;
    kMips64el.code.append_named_addresses(bytes_of(kMips64el, list).view(), address,
                                          table_of(kMips64el), false, {0x700, 0x1000}, named);
    return named;
  };
  CHECK(begins_at(code, kCode) == std::vector<Address>{kCode});
  CHECK(begins_at(code, kCode + 0x10) == std::vector<Address>{kCode});  // scheduled
  CHECK(begins_at(code, kCode + 0x80).empty());                         // another table
  // daddiu t9,t9,12 before it
  CHECK(begins_at({0x6739000c, 0x3c030002, 0x0079182d, 0x646382e0}, kCode - 4).empty());
  // By ra it is no function's beginning.
  CHECK(begins_at({0x3c030002, 0x007f182d, 0x646382e0}, kCode).empty());
}

TEST_CASE("mips: a function that counts from itself begins behind a call") {
  // jalr t9; nop; lui v1,2; daddu v1,v1,t9
  const auto is_prologue = [](const Words& list) {
    const Bytes code = bytes_of(kMips64el, list);
    return kMips64el.code.features_at_start(code.view(), 8).prologue;
  };
  CHECK(is_prologue({0x0320f809, 0, 0x3c030002, 0x0079182d}));
  CHECK_FALSE(is_prologue({0x0320f809, 0, 0x3c030002, 0x0078182d}));  // another register's
  CHECK_FALSE(is_prologue({0x0320f809, 0, 0x3c020002, 0x0079182d}));
}

}  // namespace
}  // namespace whocall::test
