// Which addresses operands of x86 code may name.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"
#include "base_bytes.h"

namespace whocall {
namespace {

using test::Bytes;

constexpr AddressRange kWanted{0x20000, 0x21000};

std::vector<Address> named(const Architecture& arch, const Bytes& code, bool fixed,
                           Address data_base = 0) {
  std::vector<Address> found;
  arch.code.append_named_addresses(code.view(), 0x1000, {data_base, {}}, fixed, kWanted, found);
  std::ranges::sort(found);
  return found;
}

}  // namespace

TEST_CASE("named addresses: x86-64 counts them from the end of the instruction") {
  const Bytes code = {0xf3, 0x0f, 0x7e, 0x05, 0xf8, 0xf0, 0x01, 0x00,  // movq 0x20100(%rip),%xmm0
                      0x48, 0x8d, 0x05, 0xf9, 0xf1, 0x01, 0x00,        // lea 0x20208(%rip),%rax
                      0xbf, 0x00, 0x03, 0x02, 0x00};                   // mov $0x20300,%edi
  CHECK(named(kX86_64, code, false) == std::vector<Address>{0x20100, 0x20208});
  CHECK(named(kX86_64, code, true) == std::vector<Address>{0x20100, 0x20208, 0x20300});
  CHECK(named(kX86_64, {0x8d, 0x05}, true).empty());
}

TEST_CASE("named addresses: i386 counts them from the GOT, of which a register holds the address") {
  const Bytes code = {0x8d, 0x83, 0x00, 0xf1, 0xff, 0xff,        // lea -0xf00(%ebx),%eax
                      0x8b, 0x84, 0x8b, 0x00, 0xf2, 0xff, 0xff,  // mov -0xe00(%ebx,%ecx,4),%eax
                      0x0f, 0x85, 0x00, 0xf3, 0xff, 0xff};       // jne
  CHECK(named(kI386, code, false, 0x21000) == std::vector<Address>{0x20100, 0x20200});
  CHECK(named(kI386, code, false).empty());
}

}  // namespace whocall
