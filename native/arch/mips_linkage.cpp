#include "arch/mips_linkage.h"

namespace whocall::mips {

std::optional<JumpStub> jump_stub(ByteView code, Address /*address*/) {
  constexpr std::uint32_t kUpper = 0xffff0000;
  constexpr std::uint32_t kLoadHigh = 0x3c0f0000;  // lui t7 (t3 in the new ABIs: the same number)
  constexpr std::uint32_t kLoadHighNew = 0x3c0e0000;
  const auto high = code.read<std::uint32_t>(0);
  const auto low = code.read<std::uint32_t>(4);
  const auto third = code.read<std::uint32_t>(8);
  const auto fourth = code.read<std::uint32_t>(12);
  if (!high || !low || !third || !fourth) {
    return std::nullopt;
  }
  const std::uint32_t upper = *high & kUpper;
  const std::uint32_t load = *low & kUpper;
  const bool loads = (upper == kLoadHigh && (load == 0x8df90000 || load == 0xddf90000)) ||
                     (upper == kLoadHighNew && (load == 0x8dd90000 || load == 0xddd90000));
  const auto jumps = [](std::uint32_t word) { return word == 0x03200008 || word == 0x03200009; };
  if (!loads || (!jumps(*third) && !jumps(*fourth))) {
    return std::nullopt;
  }
  JumpStub stub;
  const auto page = static_cast<std::int32_t>(*high << 16U);
  stub.slot = static_cast<Address>(std::int64_t{page} + static_cast<std::int16_t>(*low));
  return stub;
}

}  // namespace whocall::mips
