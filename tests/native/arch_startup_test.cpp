// The start-up code of programs, byte by byte.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "arch/architecture.h"

using namespace whocall;

namespace {

std::optional<StartupCode> startup(const char* arch, const std::vector<std::uint8_t>& code,
                                   Address address) {
  const auto* begin = reinterpret_cast<const std::byte*>(code.data());
  return find_architecture(arch)->linkage.startup(ByteView({begin, code.size()}, Endian::little),
                                                  address);
}

// glibc's _start in a position-independent program, linked at 0x1040.
const std::vector<std::uint8_t> kPie = {0x31, 0xed, 0x49, 0x89, 0xd1, 0x5e, 0x48, 0x89, 0xe2,
                                        0x48, 0x83, 0xe4, 0xf0, 0x50, 0x54, 0x45, 0x31, 0xc0,
                                        0x31, 0xc9, 0x48, 0x8d, 0x3d, 0xce, 0x00, 0x00, 0x00,
                                        0xff, 0x15, 0x5f, 0x2f, 0x00, 0x00, 0xf4};

}  // namespace

TEST_CASE("start-up code: glibc on x86-64") {
  const auto found = startup("x86_64", kPie, 0x1040);
  REQUIRE(found);
  CHECK(found->main == Address{0x1129});
  CHECK(found->callee_slot == Address{0x3fc0});
}

TEST_CASE("start-up code: no byte of it may be missing or another") {
  for (std::size_t at = 0; at < kPie.size(); ++at) {
    const bool is_operand = (at >= 23 && at < 27) || (at >= 29 && at < 33);
    auto other = kPie;
    other[at] ^= 0x80;
    CHECK(startup("x86_64", other, 0x1040).has_value() == is_operand);
    CHECK_FALSE(startup("x86_64", {kPie.begin(), kPie.begin() + at}, 0x1040));
  }
}

TEST_CASE("start-up code: glibc on i386, main relative to the GOT") {
  const std::vector<std::uint8_t> code = {
      0x31, 0xed, 0x5e, 0x89, 0xe1, 0x83, 0xe4, 0xf0, 0x50, 0x54, 0x52, 0xe8, 0x18, 0x00,
      0x00, 0x00, 0x81, 0xc3, 0x94, 0x2f, 0x00, 0x00, 0x6a, 0x00, 0x6a, 0x00, 0x51, 0x56,
      0xff, 0xb3, 0xf8, 0xff, 0xff, 0xff, 0xe8, 0xb9, 0xff, 0xff, 0xff, 0xf4};
  const auto found = startup("i386", code, 0x1050);
  REQUIRE(found);
  CHECK_FALSE(found->main);
  CHECK(found->main_slot == Address{0x1060 + 0x2f94 - 8});
}

TEST_CASE("start-up code: glibc on x32, in programs that may move and that may not") {
  std::vector<std::uint8_t> code = {0x31, 0xed, 0x41, 0x89, 0xd1, 0x8b, 0x34, 0x24, 0x83,
                                    0xc4, 0x04, 0x89, 0xe2, 0x83, 0xe4, 0xf0, 0x50, 0x54,
                                    0x45, 0x31, 0xc0, 0x31, 0xc9, 0x8d, 0x3d, 0xd3, 0xff,
                                    0xff, 0xff, 0xff, 0x15, 0x3d, 0x2f, 0x00, 0x00, 0xf4};
  const auto found = startup("x32", code, 0x1060);
  REQUIRE(found);
  CHECK(found->main == Address{0x1050});
  CHECK(found->callee_slot == Address{0x3fc0});
  for (std::size_t at = 0; at < 23; ++at) {
    auto other = code;
    other[at] ^= 0x80;
    CHECK_FALSE(startup("x32", other, 0x1060));
  }
  const std::vector<std::uint8_t> fixed = {0xc7, 0xc7, 0xf0, 0x14, 0x40, 0x00, 0x67,
                                           0xe8, 0x0d, 0x12, 0x00, 0x00, 0xf4};
  code.resize(23);
  code.insert(code.end(), fixed.begin(), fixed.end());
  const auto at_fixed = startup("x32", code, 0x401500);
  REQUIRE(at_fixed);
  CHECK(at_fixed->main == Address{0x4014f0});
}
