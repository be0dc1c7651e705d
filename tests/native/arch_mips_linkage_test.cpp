// What linkers and the C library bring along on MIPS: the code at the entry point, threads.
#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <vector>

#include "arch/mips/facts.h"
#include "unwind_process.h"

namespace whocall::test {
namespace {

using Words = std::vector<std::uint32_t>;

Bytes bytes_of(const Architecture& arch, const Words& list) {
  Bytes code(arch.abi.endian);
  for (const std::uint32_t word : list) {
    code.u32(word);
  }
  return code;
}

std::optional<StartupCode> startup(const Architecture& arch, const Words& list, Address address) {
  const Bytes code = bytes_of(arch, list);
  return arch.linkage.startup({code.get(), arch.abi.endian}, address);
}

// glibc's _start of o32, linked at 0x750, and of n64, linked at 0xb70.
const Words kOld = {0x03e00025, 0x04110001, 0,          0x3c1c0002, 0x279c8444,
                    0x039fe021, 0x0000f825, 0x8f848018, 0x8fa50000, 0x27a60004,
                    0x2401fff8, 0x03a1e824, 0x27bdffe0, 0x00003825, 0xafa00010,
                    0xafa20014, 0xafbd0018, 0x8f99806c, 0x0320f809, 0};
const Words kNew = {0x03e00025, 0x04110001, 0,          0x0380c825, 0x3c1c0002,
                    0x279c84d4, 0x039fe02d, 0x0000f825, 0xdf848020, 0xdfa50000,
                    0x67a60008, 0x2401fff0, 0x03a1e824, 0x00003825, 0x00004025,
                    0x00404825, 0x03a05025, 0xdf9980c8, 0x0320f809, 0};

TEST_CASE("mips: glibc's start-up code finds main in the global offset table") {
  for (const Architecture* arch : {&kMips, &kMipsel}) {
    const auto found = startup(*arch, kOld, 0x750);
    REQUIRE(found);
    CHECK(found->main_slot == Address{0x10bb8});
    CHECK(found->callee_slot == Address{0x10c0c});
  }
  const auto found = startup(kMips64el, kNew, 0xb70);
  REQUIRE(found);
  CHECK(found->main_slot == Address{0x11070});
  CHECK(found->callee_slot == Address{0x11118});
}

TEST_CASE("mips: no word of the start-up code may be missing or another") {
  for (const Words& code : {kOld, kNew}) {
    for (std::size_t at = 0; at < code.size(); ++at) {
      Words other = code;
      other[at] ^= 0x04000000;
      CHECK_FALSE(startup(kMipsel, other, 0x750));
      other.resize(at);
      CHECK_FALSE(startup(kMipsel, other, 0x750));
    }
  }
}

TEST_CASE("mips: clone makes a thread, and exit ends it") {
  const auto is_code_of = [](const Architecture& arch, std::uint32_t clone, std::uint32_t exit) {
    REQUIRE(arch.os.thread_starts.size() == 1);
    const ThreadStart& start = arch.os.thread_starts.front();
    const auto same = [&](std::span<const std::uint8_t> code, std::uint32_t number) {
      const Bytes wanted = bytes_of(arch, {0x24020000 | number, 0x0000000c});
      return std::ranges::equal(std::as_bytes(code), wanted.get());
    };
    return same(start.make, clone) && same(start.end, exit);
  };
  CHECK(is_code_of(kMips, 4120, 4001));
  CHECK(is_code_of(kMipsel, 4120, 4001));
  CHECK(is_code_of(kMips64, 5055, 5058));
  CHECK(is_code_of(kMips64el, 5055, 5058));
  CHECK(is_code_of(kMipsN32, 6055, 6058));
  CHECK(is_code_of(kMipsN32el, 6055, 6058));
}

RelocatedTarget got_target(const Architecture& arch, std::uint32_t word) {
  const Bytes code = bytes_of(arch, {0, word});
  return arch.linkage.got_target({.code = {code.get(), arch.abi.endian},
                                  .address = 0x4000,
                                  .offset = 4,
                                  .addend = 99,
                                  .got = Address{0x10000}});
}

TEST_CASE("mips: relocated loads lead to words of the table, relaxed calls to the function") {
  for (const Architecture* arch : {&kMips, &kMipsel}) {
    const auto load = got_target(*arch, 0x8f998018);  // lw t9,-32744(gp)
    CHECK(load.slot == Address{0x10008});
    CHECK_FALSE(load.symbol);
    CHECK(got_target(*arch, 0x0411fff0).symbol == Address{0x3fc8});  // bal
    CHECK(got_target(*arch, 0x10000010).symbol == Address{0x4048});  // b
    const auto call = got_target(*arch, 0x0320f809);                 // jalr t9
    CHECK_FALSE(call.symbol);
    CHECK_FALSE(call.slot);
  }
  CHECK(got_target(kMips64el, 0xdf998020).slot == Address{0x10010});  // ld t9,-32736(gp)
}

TEST_CASE("mips: the linker writes the lower half of an instruction") {
  const auto first_of = [](const Architecture& arch, std::uint32_t type) {
    const auto forms = arch.linkage.relocations();
    const auto form = std::ranges::find(forms, type, &RelocationForm::type);
    REQUIRE(form != forms.end());
    CHECK(form->last == form->first + 2);
    return static_cast<int>(form->first);
  };
  for (const std::uint32_t type : {R_MIPS_HI16, R_MIPS_LO16, R_MIPS_GOT16, R_MIPS_CALL16}) {
    CHECK(first_of(kMips, type) == 2);
    CHECK(first_of(kMipsel, type) == 0);
  }
}

}  // namespace
}  // namespace whocall::test
