#include "rules/mips_prologue.h"

namespace whocall::rules {
namespace {

// Upper halves: the operation and both registers.
constexpr std::uint32_t kAddSp = 0x27bd;    // addiu sp, sp, N
constexpr std::uint32_t kAddSpD = 0x67bd;   // daddiu sp, sp, N
constexpr std::uint32_t kSaveRa = 0xafbf;   // sw ra, N(sp)
constexpr std::uint32_t kSaveRaD = 0xffbf;  // sd ra, N(sp)
constexpr std::uint32_t kSaveFp = 0xafbe;
constexpr std::uint32_t kSaveFpD = 0xffbe;
// Whole instructions.
constexpr std::uint32_t kMoveFp = 0x03a0f025;   // or s8, sp, zero
constexpr std::uint32_t kMoveFp2 = 0x03a0f021;  // addu s8, sp, zero
constexpr std::uint32_t kMoveFpD = 0x03a0f02d;  // daddu s8, sp, zero
constexpr std::uint32_t kReturn = 0x03e00008;   // jr ra
// Sums into the stack pointer: frames too large for an immediate.
constexpr std::uint32_t kSumIntoSp = 0x0000e821;  // addu sp, X, Y, but for X and Y
constexpr std::uint32_t kSumMask = 0xfc00fff9;    // and subu, daddu, dsubu

std::int32_t immediate(std::uint32_t code) { return static_cast<std::int16_t>(code & 0xffffU); }

bool begins_frame(std::uint32_t code) {
  const std::uint32_t upper = code >> 16U;
  return (upper == kAddSp || upper == kAddSpD) && immediate(code) < 0;
}

}  // namespace

FrameRule mips_rule(const std::uint32_t* begin, const std::uint32_t* end) {
  FrameRule rule{
      .cfa = FrameRule::Cfa::from_sp, .ret = FrameRule::Return::in_link, .by_analysis = true};
  std::int32_t size = 0;
  bool by_fp = false;
  for (const std::uint32_t* at = begin; at < end; ++at) {
    const std::uint32_t upper = *at >> 16U;
    if (begins_frame(*at) && size == 0) {
      size = -immediate(*at);
    } else if ((*at & kSumMask) == (kSumIntoSp & kSumMask) && size == 0) {
      return {};
    } else if ((upper == kSaveRa || upper == kSaveRaD) && size != 0) {
      rule.ret = FrameRule::Return::stored;
      rule.return_slot = immediate(*at) - size;
    } else if ((upper == kSaveFp || upper == kSaveFpD) && size != 0 && !by_fp) {
      rule.fp = FrameRule::Fp::stored;
      rule.fp_slot = immediate(*at) - size;
    } else if (*at == kMoveFp || *at == kMoveFp2 || *at == kMoveFpD) {
      by_fp = size != 0;
    }
  }
  if (by_fp) {
    rule.cfa = FrameRule::Cfa::from_fp;
  }
  rule.cfa_offset = size;
  return rule;
}

const std::uint32_t* mips_frame_before(const std::uint32_t* lowest, const std::uint32_t* end) {
  for (const std::uint32_t* at = end; at > lowest;) {
    --at;
    if (begins_frame(*at)) {
      return at;
    }
    if (*at == kReturn) {
      return nullptr;
    }
  }
  return nullptr;
}

}  // namespace whocall::rules
