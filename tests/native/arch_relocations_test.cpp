// Where the linker's own rewriting of loads and calls through the global offset table leads.
#include <doctest/doctest.h>

#include <elf.h>

#include <algorithm>

#include "arch/aarch64/facts.h"
#include "arch/arm/facts.h"
#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

constexpr Address kAt = 0x401000;
constexpr Address kGot = 0x404000;

// The relocation stands in the last four of the first six bytes, or seven with a prefix.
RelocatedTarget target64(const Bytes& code, std::uint64_t offset) {
  return kX86_64.linkage.got_target({code.view(), kAt, offset, -4, std::nullopt});
}
RelocatedTarget target32(const Bytes& code, std::uint64_t offset) {
  return kI386.linkage.got_target({code.view(), kAt, offset, 0, kGot});
}

TEST_CASE("relocations: x86-64, what is not relaxed leads to the slot") {
  const auto mov = target64({0x48, 0x8b, 0x05, 0x00, 0x10, 0x00, 0x00}, 3);
  CHECK(mov.slot == kAt + 7 + 0x1000);
  CHECK_FALSE(mov.symbol.has_value());
  CHECK(target64({0xff, 0x15, 0xf0, 0xff, 0xff, 0xff}, 2).slot == kAt + 6 - 0x10);
}

TEST_CASE("relocations: x86-64, relaxed instructions lead to the symbol") {
  CHECK(target64({0x48, 0x8d, 0x05, 0x00, 0x10, 0x00, 0x00}, 3).symbol == kAt + 7 + 0x1000);
  CHECK(target64({0x48, 0xc7, 0xc0, 0x10, 0x20, 0x40, 0x00}, 3).symbol == 0x402010);
  CHECK(target64({0x67, 0xe8, 0x00, 0x10, 0x00, 0x00}, 2).symbol == kAt + 6 + 0x1000);
  CHECK(target64({0xe9, 0x00, 0x10, 0x00, 0x00, 0x90}, 2).symbol == kAt + 5 + 0x1000);
  CHECK(target64({0xe8, 0x00, 0x10, 0x00, 0x00, 0x90}, 2).symbol == kAt + 5 + 0x1000);
}

TEST_CASE("relocations: i386, slots by the table's address or their own") {
  CHECK(target32({0x8b, 0x83, 0xfc, 0xff, 0xff, 0xff}, 2).slot == kGot - 4);
  CHECK(target32({0x8b, 0x05, 0x10, 0x40, 0x40, 0x00}, 2).slot == 0x404010);
  CHECK(target32({0x8d, 0x83, 0x00, 0xf0, 0xff, 0xff}, 2).symbol == kGot - 0x1000);
  CHECK(target32({0xc7, 0xc0, 0x10, 0x20, 0x40, 0x00}, 2).symbol == 0x402010);
  CHECK(target32({0x67, 0xe8, 0x00, 0x10, 0x00, 0x00}, 2).symbol == kAt + 6 + 0x1000);
}

TEST_CASE("relocations: code that ends too early leads nowhere") {
  for (const std::uint64_t offset : {0U, 1U, 2U, 3U, 9U}) {
    const auto target = target64({0x48, 0x8b, 0x05}, offset);
    CHECK_FALSE(target.symbol.has_value());
    CHECK_FALSE(target.slot.has_value());
  }
}

TEST_CASE("relocations: aarch64, calls lead to the symbol, and what is no call nowhere") {
  const auto target = [](const Bytes& code) {
    return kAArch64.linkage.got_target({.code = code.view(), .address = kAt}).symbol;
  };
  CHECK(target({0x04, 0x00, 0x00, 0x94}) == kAt + 16);        // bl
  CHECK(target({0xff, 0xff, 0xff, 0x17}) == kAt - 4);         // b
  CHECK_FALSE(target({0x1f, 0x20, 0x03, 0xd5}).has_value());  // nop, of a weak function
  CHECK_FALSE(target({0x04, 0x00}).has_value());
}

TEST_CASE("relocations: arm, calls lead to the symbol from where the compiler counted") {
  const auto target = [](const Bytes& code, std::uint32_t type, std::uint32_t made) {
    return kArm.linkage
        .got_target({.code = code.view(),
                     .address = kAt,
                     .addend = static_cast<std::int32_t>(made),
                     .type = type})
        .symbol;
  };
  const Bytes a32{0x3e, 0x00, 0x00, 0xeb};
  CHECK(target(a32, R_ARM_CALL, 0xebfffffe) == kAt + 8 + 4 * 0x3e);
  CHECK(target(a32, R_ARM_CALL, 0xeb000000) == kAt + 4 * 0x3e);  // 8 bytes behind the symbol
  const Bytes t32{0x00, 0xf0, 0xfe, 0xf8};
  CHECK(target(t32, R_ARM_THM_PC22, 0xfffef7ff) == kAt + 4 + 0x1fc);
  CHECK_FALSE(target({0x00, 0xbf, 0x00, 0xbf}, R_ARM_THM_PC22, 0xfffef7ff).has_value());
}

TEST_CASE("relocations: no type stands twice in a table, and what is written lies in what may be") {
  for (const Architecture* arch : {&kX86_64, &kI386, &kAArch64, &kArm}) {
    const auto forms = arch->linkage.relocations();
    for (const RelocationForm& form : forms) {
      CHECK(std::ranges::count(forms, form.type, &RelocationForm::type) == 1);
      CHECK(form.first <= 0);
      CHECK(form.last >= form.size);
    }
  }
}

}  // namespace
}  // namespace whocall::test
