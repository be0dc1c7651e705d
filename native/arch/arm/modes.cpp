#include "arch/arm/modes.h"

#include <algorithm>
#include <array>

#include "arch/arm/fields.h"

namespace whocall::arm {
namespace {

constexpr Address kBlock = 1U << 12U;  // bytes
constexpr Address kMargin = 256;       // bytes around it that are looked at with it

// Folklore. Situation: of the long instructions of T32 either half may begin as "always" does in
// A32. Example: blx to a stub of the linkage table and behind it another, at the end of what a
// function does with an exception; arithmetic of 64 bits. Remedy: most would be odd as words of
// A32: jumps over megabytes, jumps of which the distance ends as one in 64 does, registers of the
// user from the kernel, coprocessors that nobody has.
bool is_odd(std::uint32_t word) {
  const std::uint32_t megabytes = bits(word, 20, 4);
  const bool far = is(word, 0xfe000000, 0xea000000) && megabytes != 0 && megabytes != 0xf;
  const bool users = is(word, 0xfe400000, 0xe8400000);
  const bool calls_a32 = is(word, 0xf801f800, 0xe800f000);
  const bool coprocessor = is(word, 0xfe000000, 0xec000000) || is(word, 0xff000000, 0xee000000);
  const std::uint32_t unit = bits(word, 8, 4);
  const bool nobodys = coprocessor && unit != 10 && unit != 11 && unit < 14;
  return far || users || calls_a32 || nobodys;
}

// How much more a word is like A32 than like T32. Most instructions of A32 begin with 14, the
// condition "always"; in T32 any half word may stand there.
int likeness(std::uint32_t word) {
  constexpr int kUsual = 3;
  constexpr int kSure = 8;
  if (word == 0) {
    return 0;
  }
  const bool returns = word == 0xe12fff1e || is(word, 0xffff8000, 0xe8bd8000);
  const bool pushes = is(word, 0xffff4000, 0xe92d4000) || word == 0xe52de004;
  const bool stub = is(word, 0xfffff000, 0xe28fc000) || is(word, 0xfffff000, 0xe5bcf000);
  if (returns || pushes || stub) {
    return kSure;
  }
  const auto thumb = [](std::uint32_t half) {
    return half == 0x4770 || half == 0xbf00 || is(half, 0xff00, 0xb500) || is(half, 0xff00, 0xbd00);
  };
  if (thumb(word & 0xffffU) || thumb(word >> 16U)) {
    return -kSure;
  }
  if (is_odd(word)) {
    return -kUsual;
  }
  // blx to T32 within a megabyte: of T32 it would be a shift by a register, or unsigned arithmetic.
  const bool calls_t32 = is(word, 0xfff00000, 0xfa000000) || is(word, 0xfff00000, 0xfaf00000);
  const std::uint32_t condition = word >> 28U;
  if (condition == 0xe || calls_t32) {
    return kUsual;
  }
  // Folklore. Situation: code where every second instruction has a condition. Example: memset of
  // the C library, written by hand for A32. Remedy: equal, unequal, less and so on are rarely seen
  // in T32 as jumps over less than 16 KB, and otherwise say little; overflow and sign are rare.
  const std::uint32_t far = bits(word, 12, 12);
  const bool near_jump = is(word, 0x0f000000, 0x0a000000) && (far == 0 || far == 0xfff);
  const bool rare = (condition >= 4 && condition < 8) || condition == 0xf;
  return rare ? -kUsual : near_jump ? kUsual : -1;
}

}  // namespace

// The likeliest modes of all words together, where every change of the mode is unlikely (Viterbi's
// algorithm): what stands between functions, and constants in them, changes nothing then.
Modes::Modes(ByteView code, Address address) : first_((address + 3) & ~Address{3}) {
  constexpr int kChange = 14;
  const std::uint64_t skipped = first_ - address;
  const std::uint64_t count = code.size() < skipped ? 0 : (code.size() - skipped) / 4;
  std::vector<std::array<bool, 2>> changed(count);  // into A32, into T32, just before a word
  int a32 = 0;
  int t32 = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const int best_a32 = std::max(a32, t32 - kChange);
    const int best_t32 = std::max(t32, a32 - kChange);
    changed[i] = {best_a32 != a32, best_t32 != t32};
    const int like = likeness(word_at(code, skipped + 4 * i).value_or(0));
    a32 = best_a32 + like;
    t32 = best_t32 - like;
    const int level = std::max(a32, t32);
    a32 -= level;
    t32 -= level;
  }
  thumb_.resize(count);
  bool thumb = t32 >= a32;
  for (std::uint64_t i = count; i-- > 0;) {
    thumb_[i] = thumb;
    thumb = changed[i].at(thumb ? 1 : 0) ? !thumb : thumb;
  }
}

bool Modes::is_thumb(Address address) const {
  if (address % 4 != 0 && address % 4 != 2) {
    return true;
  }
  const std::uint64_t index = address < first_ ? 0 : (address - first_) / 4;
  return thumb_.empty() || address % 4 == 2 || thumb_[std::min(index, thumb_.size() - 1)];
}

bool ModesAround::is_thumb(Address address) {
  const Address block = address & ~(kBlock - 1);
  if (block != last_) {
    auto [found, fresh] = known_.try_emplace(block);
    if (fresh && around_) {
      std::vector<std::byte> bytes(kBlock + 2 * kMargin);
      Address from = block < kMargin ? 0 : block - kMargin;
      std::size_t size = around_(from, bytes);
      if (size == 0) {  // where it begins nothing may stand before it
        from = block;
        size = around_(from, bytes);
      }
      if (size == 0) {
        from = address;
        size = around_(from, bytes);
      }
      found->second = Modes(ByteView(std::span(bytes).first(size), Endian::little), from);
    }
    last_ = block;
    modes_ = &found->second;
  }
  return modes_->is_thumb(address);
}

}  // namespace whocall::arm
