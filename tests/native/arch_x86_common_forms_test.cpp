// Instructions that are decoded straight from their bytes, against those that the library decodes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "arch/x86/common_forms.h"
#include "arch/x86/decoder.h"
#include "arch/x86/i386_facts.h"
#include "arch/x86/x86_64_facts.h"

namespace whocall::test {
namespace {

constexpr Address kAt = 0x401000;

std::vector<std::array<std::int64_t, 6>> effects_of(const Instruction& instruction) {
  std::vector<std::array<std::int64_t, 6>> effects;
  for (const Effect& effect : instruction.list()) {
    effects.push_back({static_cast<std::int64_t>(effect.kind), effect.destination, effect.source,
                       effect.offset, effect.scale != 0 ? effect.index : 0, effect.scale});
  }
  return effects;
}

bool is_same(const Instruction& ours, const Instruction& theirs) {
  return ours.size == theirs.size && ours.flow == theirs.flow && ours.returns == theirs.returns &&
         ours.landing_pad == theirs.landing_pad && ours.padding == theirs.padding &&
         ours.target == theirs.target && ours.popped == theirs.popped &&
         ours.is_whole == theirs.is_whole && effects_of(ours) == effects_of(theirs);
}

// Says what differs.
void check_same(const Instruction& ours, const Instruction& theirs) {
  CHECK(ours.size == theirs.size);
  CHECK(ours.flow == theirs.flow);
  CHECK(ours.returns == theirs.returns);
  CHECK(ours.landing_pad == theirs.landing_pad);
  CHECK(ours.padding == theirs.padding);
  CHECK(ours.target == theirs.target);
  CHECK(ours.popped == theirs.popped);
  CHECK(ours.is_whole == theirs.is_whole);
  CHECK(effects_of(ours) == effects_of(theirs));
}

// Capstone 5 has forgotten movsxd without REX.W, a plain move of 32 bits, which Capstone 4 has.
bool is_narrow_movsxd(ByteView code, x86::Dialect dialect) {
  std::uint64_t at = 0;
  for (; at < 14; ++at) {
    const auto byte = code.read<std::uint8_t>(at).value_or(0);
    const bool is_rex = byte >= 0x40 && byte < 0x48;
    constexpr std::array<unsigned, 11> kPrefixes = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
                                                    0x66, 0x67, 0xf0, 0xf2, 0xf3};
    if (!is_rex && std::ranges::find(kPrefixes, byte) == kPrefixes.end()) {
      break;
    }
  }
  return dialect != x86::Dialect::i386 && code.read<std::uint8_t>(at) == 0x63;
}

constexpr std::array kDialects = {x86::Dialect::i386, x86::Dialect::x86_64, x86::Dialect::x32};

// Compares at every byte, instruction or not. How many of them have a common form.
std::size_t compare_all(std::span<const std::byte> bytes, x86::Dialect dialect) {
  const auto library = x86::make_library_decoder(dialect);
  const ByteView code(bytes, Endian::little);
  std::size_t common = 0;
  for (std::size_t offset = 0; offset < bytes.size(); ++offset) {
    const ByteView rest = code.from(offset);
    const auto ours = x86::decode_common_form(rest, kAt + offset, dialect);
    if (!ours) {
      continue;
    }
    const auto theirs = library->decode(rest, kAt + offset);
    ++common;
    if (!theirs && is_narrow_movsxd(rest, dialect)) {
      continue;
    }
    if (!theirs || !is_same(*ours, *theirs)) {
      INFO("offset ", offset, ", dialect ", static_cast<int>(dialect), ": ",
           library->text(rest, kAt + offset));
      REQUIRE(theirs.has_value());
      check_same(*ours, *theirs);
    }
  }
  return common;
}

TEST_CASE("common forms: of random bytes they are what the library says") {
  std::mt19937_64 random(1);
  std::vector<std::byte> bytes(100'000);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
  for (const x86::Dialect dialect : kDialects) {
    CHECK(compare_all(bytes, dialect) > 10'000);
  }
}

// Bytes as compilers string them together: prefixes, REX, opcodes with groups, and SIB.
TEST_CASE("common forms: of bytes that often begin instructions they are what the library says") {
  constexpr std::array<unsigned char, 24> kOften = {0x48, 0x49, 0x4c, 0x41, 0x66, 0xf2, 0xf3, 0x0f,
                                                    0x2e, 0x83, 0x81, 0xff, 0xf7, 0x8b, 0x89, 0xc7,
                                                    0x24, 0x44, 0x05, 0xc0, 0xec, 0x65, 0x67, 0xf0};
  std::mt19937_64 random(2);
  std::vector<std::byte> bytes(100'000);
  std::ranges::generate(bytes, [&] {
    const auto number = random();
    return static_cast<std::byte>(number % 3 == 0 ? number >> 32U : kOften[number / 3 % 24]);
  });
  for (const x86::Dialect dialect : kDialects) {
    CHECK(compare_all(bytes, dialect) > 10'000);
  }
}

TEST_CASE("common forms: every beginning of a form that is cut short is none") {
  const std::array<unsigned char, 8> lea = {0x48, 0x8d, 0xa4, 0x24, 0x10, 0x20, 0x30, 0x00};
  for (std::size_t size = 0; size <= lea.size(); ++size) {
    const ByteView code(std::as_bytes(std::span(lea).first(size)), Endian::little);
    CHECK(x86::decode_common_form(code, kAt, x86::Dialect::x86_64).has_value() ==
          (size == lea.size()));
  }
}

}  // namespace
}  // namespace whocall::test
