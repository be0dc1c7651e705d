// Jump stubs: PLT slots of every age, thunks, tail jumps.
#include <doctest/doctest.h>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

constexpr Address kAt = 0x401020;

std::optional<JumpStub> stub(const Architecture& arch, const Bytes& code) {
  return arch.linkage.stub_at(code.view(), kAt);
}

void check_slot(const Architecture& arch, const Bytes& code, Address slot) {
  const auto found = stub(arch, code);
  REQUIRE(found.has_value());
  CHECK(found->slot == slot);
  CHECK_FALSE(found->target.has_value());
}

void check_target(const Architecture& arch, const Bytes& code, Address target) {
  const auto found = stub(arch, code);
  REQUIRE(found.has_value());
  CHECK(found->target == target);
  CHECK_FALSE(found->slot.has_value());
}

TEST_CASE("jump stub: x86-64 PLT slots, plain, with bnd, with endbr64, with both") {
  check_slot(kX86_64, {0xff, 0x25, 0xe2, 0x2f, 0x00, 0x00}, kAt + 6 + 0x2fe2);
  check_slot(kX86_64, {0xf2, 0xff, 0x25, 0xd5, 0x2f, 0x00, 0x00}, kAt + 7 + 0x2fd5);
  check_slot(kX86_64, {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xca, 0x2f, 0x00, 0x00},
             kAt + 10 + 0x2fca);
  check_slot(kX86_64, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xc5, 0x2f, 0x00, 0x00},
             kAt + 11 + 0x2fc5);
  check_slot(kX86_64, {0xff, 0x25, 0xf0, 0xff, 0xff, 0xff}, kAt + 6 - 0x10);
}

TEST_CASE("jump stub: relative jumps of both lengths, forwards and backwards") {
  check_target(kX86_64, {0xe9, 0x00, 0x10, 0x00, 0x00}, kAt + 0x1005);
  check_target(kX86_64, {0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0x00, 0x10, 0x00, 0x00}, kAt + 0x1009);
  check_target(kX86_64, {0xeb, 0x10}, kAt + 0x12);
  check_target(kX86_64, {0xeb, 0xee}, kAt - 0x10);
  check_target(kX86_64, {0xe9, 0xfb, 0xfd, 0xff, 0xff}, kAt - 0x200);
  check_target(kI386, {0xe9, 0xfb, 0xfd, 0xff, 0xff}, kAt - 0x200);
  CHECK(kI386.linkage.stub_at(Bytes{0xe9, 0x00, 0x00, 0x00, 0x80}.view(), 0x80000000)->target ==
        5U);
}

TEST_CASE("jump stub: i386 PLT slots, absolute and through %ebx") {
  check_slot(kI386, {0xff, 0x25, 0x10, 0xc0, 0x04, 0x08}, 0x804c010);
  check_slot(kI386, {0xf3, 0x0f, 0x1e, 0xfb, 0xff, 0x25, 0x10, 0xc0, 0x04, 0x08}, 0x804c010);
  // A stub for certain, but the table's address is in a register.
  const auto found = stub(kI386, {0xff, 0xa3, 0x00, 0x10, 0x00, 0x00});
  REQUIRE(found.has_value());
  CHECK_FALSE(found->slot.has_value());
  CHECK_FALSE(found->target.has_value());
  CHECK_FALSE(stub(kX86_64, {0xff, 0xa3, 0x00, 0x10, 0x00, 0x00}).has_value());
}

TEST_CASE("jump stub: ordinary code and cut-off code is none") {
  for (const Architecture* arch : {&kX86_64, &kI386}) {
    CHECK_FALSE(stub(*arch, {}).has_value());
    CHECK_FALSE(stub(*arch, {0x55, 0x48, 0x89, 0xe5, 0x90, 0x90}).has_value());
    CHECK_FALSE(stub(*arch, {0xff, 0xe0, 0, 0, 0, 0}).has_value());        // jmp *%rax
    CHECK_FALSE(stub(*arch, {0xff, 0x20, 0, 0, 0, 0}).has_value());        // jmp *(%rax)
    CHECK_FALSE(stub(*arch, {0xff, 0x15, 0, 0, 0, 0}).has_value());        // call *disp32
    CHECK_FALSE(stub(*arch, {0xf3, 0x0f, 0x1e, 0xfa, 0x55}).has_value());  // endbr64; push
    CHECK_FALSE(stub(*arch, {0xe9, 0x00, 0x10, 0x00}).has_value());
    CHECK_FALSE(stub(*arch, {0xeb}).has_value());
    CHECK_FALSE(stub(*arch, {0xff, 0x25, 0x00}).has_value());
    CHECK_FALSE(stub(*arch, {0xf3, 0x0f, 0x1e, 0xfa}).has_value());
  }
}

}  // namespace
}  // namespace whocall::test
