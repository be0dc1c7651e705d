#include "arch/aarch64/linkage.h"

#include <array>

#include "arch/aarch64/fields.h"

namespace whocall::aarch64 {
namespace {

constexpr std::uint64_t kWidth = 4;
constexpr unsigned kRegisters = 32;

// What instructions put into registers that name addresses in two or more steps: adrp and then add
// or ldr; movz and movk.
class Addresses {
 public:
  struct Value {
    Address address = 0;
    bool is_slot = false;  // the word at `address` is the value
  };

  // False for an instruction that does something else.
  bool take(std::uint32_t word, Address address) {
    auto& to = values_[rd(word)];
    const auto& from = values_[rn(word)];
    if (is_adrp(word) || is_adr(word)) {
      to = Value{adr_value(word, address)};
    } else if (is_add_immediate(word) && from && !from->is_slot) {
      to = Value{from->address + add_immediate(word)};
    } else if (is_load_immediate(word) && from && !from->is_slot) {
      to = Value{from->address + load_immediate(word), true};
    } else if (is(word, 0xff800000, 0xd2800000)) {  // movz
      to = Value{part(word)};
    } else if (is(word, 0xff800000, 0xf2800000) && to && !to->is_slot) {  // movk
      const Address mask = Address{0xffff} << shift(word);
      to = Value{(to->address & ~mask) | part(word)};
    } else {
      return false;
    }
    return true;
  }
  [[nodiscard]] const std::optional<Value>& at(Register number) const { return values_.at(number); }

 private:
  static unsigned shift(std::uint32_t word) { return bits(word, 21, 2) * 16; }
  static Address part(std::uint32_t word) { return Address{bits(word, 5, 16)} << shift(word); }

  std::array<std::optional<Value>, kRegisters> values_{};
};

// Static programs of glibc name main by a jump of their own behind _start: nop or bti c; b main.
Address behind_wrapper(Address main, ByteView code, Address address) {
  const std::uint64_t at = main - address;
  const auto pad = word_at(code, at);
  const auto jump = word_at(code, at + kWidth);
  const bool wraps =
      at < code.size() && pad && (is_nop(*pad) || is_landing_pad(*pad)) && jump && is_jump(*jump);
  return wraps ? jump_target(*jump, main + kWidth) : main;
}

constexpr bool is_branch_register(std::uint32_t word) { return is(word, 0xfffffc1f, 0xd61f0000); }

}  // namespace

// A slot of the PLT: adrp x16,page; ldr x17,[x16,#low]; add x16,x16,#low; br x17; binutils 2.47
// writes a nop for an add of 0. A veneer: adrp x16,page; add x16,x16,#low; br x16. A bti may stand
// before either, and before a mere jump.
std::optional<JumpStub> jump_stub(ByteView code, Address address) {
  constexpr std::uint64_t kLongest = 6 * kWidth;
  Addresses known;
  for (std::uint64_t at = 0; at < kLongest; at += kWidth) {
    const auto word = word_at(code, at);
    if (!word) {
      return std::nullopt;
    }
    if (is_jump(*word)) {
      return JumpStub{.target = jump_target(*word, address + at)};
    }
    if (is_branch_register(*word)) {
      const auto& to = known.at(rn(*word));
      if (!to) {
        return std::nullopt;
      }
      return to->is_slot ? JumpStub{.slot = to->address} : JumpStub{.target = to->address};
    }
    const bool pad = at == 0 ? is_landing_pad(*word) : is_nop(*word);
    const bool of_stub = rd(*word) == 16 || rd(*word) == 17;
    if (!pad && !(of_stub && known.take(*word, address + at))) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// _start of glibc and musl: the registers of the first arguments are set, and __libc_start_main is
// called; x0 is its first one, main.
std::optional<StartupCode> startup(ByteView code, Address address) {
  constexpr std::uint64_t kLongest = 32 * kWidth;
  const auto first = word_at(code, 0);
  const auto second = word_at(code, kWidth);
  constexpr std::uint32_t kNoFrame = 0xd280001d;  // mov x29,#0
  if (first != kNoFrame && second != kNoFrame) {
    return std::nullopt;
  }
  Addresses known;
  for (std::uint64_t at = 0; at < kLongest; at += kWidth) {
    const auto word = word_at(code, at);
    if (!word) {
      return std::nullopt;
    }
    if (is_call(*word)) {
      StartupCode found;
      const auto& main = known.at(0);
      if (main && main->is_slot) {
        found.main_slot = main->address;
      } else if (main && main->address != 0) {
        found.main = behind_wrapper(main->address, code, address);
      }
      return found;
    }
    if (is_jump(*word)) {
      return std::nullopt;
    }
    known.take(*word, address + at);
  }
  return std::nullopt;
}

}  // namespace whocall::aarch64
