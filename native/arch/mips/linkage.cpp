#include "arch/mips/linkage.h"

#include <algorithm>
#include <initializer_list>

namespace whocall::mips {
namespace {

// Words of code, one after the other.
class Words {
 public:
  explicit Words(ByteView code) : code_(code) {}

  bool take(std::initializer_list<std::uint32_t> words) {
    return std::ranges::all_of(words, [&](std::uint32_t word) { return take_any({word}); });
  }
  // One word, out of several.
  bool take_any(std::initializer_list<std::uint32_t> words) {
    const auto word = code_.read<std::uint32_t>(at_);
    if (!word || std::ranges::find(words, *word) == words.end()) {
      return false;
    }
    at_ += 4;
    return true;
  }
  // A word with one of these upper halves: its lower one, signed.
  std::optional<std::int64_t> take_immediate(std::initializer_list<std::uint32_t> uppers) {
    const auto word = code_.read<std::uint32_t>(at_);
    if (!word || std::ranges::find(uppers, *word >> 16U) == uppers.end()) {
      return std::nullopt;
    }
    at_ += 4;
    return static_cast<std::int16_t>(*word);
  }

 private:
  ByteView code_;
  std::uint64_t at_ = 0;
};

// The other arguments: argc, argv, and the stack aligned for them; o32 has some on the stack.
bool take_arguments_32(Words& words) {
  return words.take({0x8fa50000, 0x27a60004, 0x2401fff8, 0x03a1e824, 0x27bdffe0, 0x00003825,
                     0xafa00010, 0xafa20014, 0xafbd0018});
}
bool take_arguments_64(Words& words) {
  return words.take_any({0xdfa50000, 0x8fa50000}) && words.take_any({0x67a60008, 0x27a60004}) &&
         words.take({0x2401fff0, 0x03a1e824, 0x00003825, 0x00004025, 0x00404825, 0x03a05025});
}

}  // namespace

// move zero,ra; bal to what is behind the nop; [move t9,gp]; lui gp; addiu gp,gp; addu gp,gp,ra;
// move ra,zero; lw a0,MAIN(gp); the other arguments; lw t9,CALLEE(gp); jalr t9; nop. n64 and n32
// have ld and daddu, and lw and addu, for words and addresses.
std::optional<StartupCode> startup(ByteView code, Address address) {
  constexpr Address kBehindCall = 12;
  constexpr std::uint32_t kLoadMain = 0x8f84;
  constexpr std::uint32_t kLoadMainWide = 0xdf84;
  Words words(code);
  if (!words.take({0x03e00025, 0x04110001, 0})) {
    return std::nullopt;
  }
  const bool is_new = words.take({0x0380c825});
  const auto high = words.take_immediate({0x3c1c});
  const auto low = high ? words.take_immediate({0x279c, 0x679c}) : std::nullopt;
  if (!low || !words.take_any({0x039fe021, 0x039fe02d}) || !words.take({0x0000f825})) {
    return std::nullopt;
  }
  const auto main = words.take_immediate({kLoadMain, kLoadMainWide});
  if (!main || !(is_new ? take_arguments_64(words) : take_arguments_32(words))) {
    return std::nullopt;
  }
  const auto callee = words.take_immediate({0x8f99, 0xdf99});
  if (!callee || !words.take({0x0320f809, 0})) {
    return std::nullopt;
  }
  const Address gp = address + kBehindCall + static_cast<Address>(*high * 65536 + *low);
  StartupCode found;
  found.main_slot = gp + static_cast<Address>(*main);
  found.callee_slot = gp + static_cast<Address>(*callee);
  return found;
}

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
