// Instructions that call the kernel.
#include <doctest/doctest.h>

#include "arch/aarch64/facts.h"
#include "arch/system_call.h"
#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

bool ends(const Architecture& arch, const Bytes& code) {
  const auto decoder = decoder_for(arch);
  constexpr Address kBegin = 0x1000;
  return ends_with_system_call(*decoder, code.view(arch.abi.endian), kBegin + code.size());
}

TEST_CASE("system calls: what stands before an address") {
  CHECK(ends(kX86_64, {0x90, 0x0f, 0x05}));
  CHECK(ends(kX86_64, {0x0f, 0x05}));
  CHECK_FALSE(ends(kX86_64, {0x05}));
  CHECK_FALSE(ends(kX86_64, {0x0f, 0x05, 0x90}));
  CHECK_FALSE(ends(kX86_64, {0xff, 0xd0}));  // call *%rax
  CHECK(ends(kI386, {0xcd, 0x80}));
  CHECK(ends(kI386, {0x0f, 0x34}));
  CHECK_FALSE(ends(kI386, {0xcd, 0x03}));
  CHECK(ends(kAArch64, {0x01, 0x00, 0x00, 0xd4}));
  CHECK_FALSE(ends(kAArch64, {0xc0, 0x03, 0x5f, 0xd6}));  // ret
}

}  // namespace
}  // namespace whocall::test
