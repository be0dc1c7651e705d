// Instructions of 16 bits do what those of 32 do that they stand for.
#include <doctest/doctest.h>

#include "arch/riscv/decoder.h"
#include "arch/riscv/expanded.h"
#include "arch/riscv/fields.h"
#include "base_bytes.h"

namespace whocall::test {
namespace {

std::optional<Instruction> decoded(riscv::Decoder& decoder, const Bytes& code) {
  return decoder.decode(code.view(), 0x10000);
}

// Both say the same of what control and registers do; where branches go differs, as what is
// expanded goes nowhere.
bool same(const Instruction& one, const Instruction& other) {
  const auto effects = one.list();
  const auto others = other.list();
  return one.flow == other.flow && one.returns == other.returns &&
         std::ranges::equal(effects, others, [](const Effect& left, const Effect& right) {
           return left.kind == right.kind && left.destination == right.destination &&
                  left.source == right.source && left.offset == right.offset;
         });
}

TEST_CASE("expanded RISC-V: every instruction of 16 bits does what the one of 32 does") {
  riscv::Decoder decoder;
  int count = 0;
  for (std::uint32_t parcel = 0; parcel <= 0xffff; ++parcel) {
    const auto word = riscv::is_compressed(parcel) ? riscv::expanded(parcel) : std::nullopt;
    const auto small =
        riscv::is_compressed(parcel) ? decoded(decoder, Bytes().u16(parcel)) : std::nullopt;
    if (!word || !small) {
      continue;
    }
    const auto large = decoded(decoder, Bytes().u32(*word));
    INFO("parcel " << parcel << ", word " << *word);
    REQUIRE(large.has_value());
    REQUIRE(same(*small, *large));
    ++count;
  }
  CHECK(count > 40000);
}

}  // namespace
}  // namespace whocall::test
