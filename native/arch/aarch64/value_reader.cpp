// What is not read here loses what it writes, and counts all that it reads as changed.
#include "arch/aarch64/value_reader.h"

#include <array>
#include <bit>
#include <utility>

#include "arch/aarch64/frame_facts.h"
#include "arch/aarch64/value_memory.h"

namespace whocall::aarch64 {
namespace {

// The pattern of a logical operation: `ones` ones, turned right by `turned`, in an element of so
// many bits as N and the leading bits of imms tell, again and again.
std::optional<std::uint64_t> bit_pattern(std::uint32_t word) {
  const std::uint32_t imms = bits(word, 10, 6);
  const std::uint32_t told = bits(word, 22, 1) << 6U | (~imms & 0x3fU);
  if (told < 2) {
    return std::nullopt;
  }
  const auto size = static_cast<unsigned>(std::bit_floor(told));  // of an element, bits
  const unsigned ones = (imms & (size - 1)) + 1;
  const unsigned turned = bits(word, 16, 6) & (size - 1);
  if (ones == size) {
    return std::nullopt;
  }
  std::uint64_t pattern = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((bit + turned) % size < ones) {
      pattern |= std::uint64_t{1} << bit;
    }
  }
  return pattern;
}

class Steps : private ValueMemory {
 public:
  Steps(std::uint32_t word, Address address, ValueFlow& out) : ValueMemory(word, address, out) {}

  bool read() {
    switch (family(word_)) {
      case Family::immediates:
        immediates();
        break;
      case Family::branches:
        branches();
        break;
      case Family::memory:
        loads_and_stores();
        break;
      case Family::registers:
        registers();
        break;
      case Family::vectors:
        vectors();
        break;
      case Family::scalable:
        mix(rn(word_), kWord);
        lose(rd(word_));
        store_somewhere();
        break;
      case Family::none:
        return false;
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint8_t size() const { return bits(word_, 31, 1) != 0 ? kWord : kHalf; }

  void immediates() {
    switch (bits(word_, 23, 3)) {
      case 0:
      case 1:
        return put(rd(word_), constant(adr_value(word_, address_)), kWord);
      case 2:
        return add_immediate_of();
      case 4:
        return logical_immediate();
      case 5:
        return move_wide();
      case 6:
        return bit_field();
      default:  // addg, extr
        mix(rn(word_), kWord);
        mix(rm(word_), kWord);
        return lose(rd(word_));
    }
  }

  void add_immediate_of() {
    note(rn(word_), size());
    const bool flags = bits(word_, 29, 1) != 0;
    if (flags && rd(word_) == kZero) {
      return;
    }
    const auto amount = static_cast<std::int64_t>(add_immediate(word_));
    const std::int64_t offset = bits(word_, 30, 1) != 0 ? -amount : amount;
    put_or_sp(rd(word_), sum({.base = rn(word_), .offset = offset}, size()), size());
  }

  void logical_immediate() {
    const std::uint32_t operation = bits(word_, 29, 2);
    const auto pattern = bit_pattern(word_);
    constexpr std::uint32_t kAnd = 0;
    constexpr std::uint32_t kOr = 1;
    if (operation == 3 && rd(word_) == kZero) {
      return note(rn(word_), size());  // tst
    }
    if (operation == kOr && rn(word_) == kZero && pattern) {
      return put_or_sp(rd(word_), constant(*pattern), size());
    }
    const std::uint64_t mask = pattern.value_or(0) & (size() == kWord ? ~std::uint64_t{0} : ~0U);
    for (const unsigned bytes : {1U, 2U, 4U}) {
      if (operation == kAnd && mask == (std::uint64_t{1} << (8 * bytes)) - 1) {
        return put_or_sp(rd(word_), part(rn(word_), static_cast<std::uint8_t>(bytes)), size());
      }
    }
    mix(rn(word_), size());
    put_or_sp(rd(word_), {}, kWord);
  }

  // movn, movz; movk, which leaves the other halfwords as they are.
  void move_wide() {
    const std::uint32_t operation = bits(word_, 29, 2);
    const unsigned shift = bits(word_, 21, 2) * 16;
    const std::uint64_t number = std::uint64_t{bits(word_, 5, 16)} << shift;
    ValueWrite value = constant(operation == 0 ? ~number : number);
    if (operation == 3) {
      value.kept = ~(std::uint64_t{0xffff} << shift);
    }
    put(rd(word_), value, size());
  }

  // sxtb, sxth, sxtw, uxtb, uxth, and all that moves bits elsewhere.
  void bit_field() {
    const std::uint32_t operation = bits(word_, 29, 2);
    const std::uint32_t last = bits(word_, 10, 6);
    const bool whole_bytes = last == 7 || last == 15 || last == 31;
    if (bits(word_, 16, 6) == 0 && whole_bytes && operation != 1) {
      const auto bytes = static_cast<std::uint8_t>((last + 1) / 8);
      return put(rd(word_), part(rn(word_), bytes, operation == 0), size());
    }
    mix(rn(word_), size());
    if (operation == 1) {
      mix(rd(word_), size());
    }
    lose(rd(word_));
  }

  void registers() {
    if (is(word_, 0x7fe0ffe0, 0x2a0003e0)) {  // mov
      return put(rd(word_), part(rm(word_), size()), size());
    }
    if (is(word_, 0x1f000000, 0x0a000000)) {
      return logical();
    }
    if (is(word_, 0x1f200000, 0x0b000000) || is(word_, 0x1fe00000, 0x0b200000)) {
      return add();
    }
    if (is(word_, 0x1fe00000, 0x1a400000)) {  // a conditional comparison
      note(rn(word_), size());
      return bits(word_, 11, 1) != 0 ? void() : note(rm(word_), size());
    }
    mix(rn(word_), size());
    if (!is(word_, 0x5fe00000, 0x5ac00000)) {  // of one source alone
      mix(rm(word_), size());
    }
    if (is(word_, 0x1f000000, 0x1b000000)) {
      mix(static_cast<Register>(bits(word_, 10, 5)), size());
    }
    lose(rd(word_));
  }

  void logical() {
    const bool flags = bits(word_, 29, 2) == 3;
    if (flags && rd(word_) == kZero) {
      note(rn(word_), size());
      return note(rm(word_), size());
    }
    mix(rn(word_), size());
    mix(rm(word_), size());
    lose(rd(word_));
  }

  // add and sub of registers, shifted or extended. 31 is the stack pointer where one is extended,
  // but for what is only compared.
  void add() {
    const bool extended = bits(word_, 21, 1) != 0;
    const bool subtracts = bits(word_, 30, 1) != 0;
    if (bits(word_, 29, 1) != 0 && rd(word_) == kZero) {
      note(rn(word_), size());
      return note(rm(word_), size());
    }
    const std::uint32_t shift = extended ? bits(word_, 10, 3) : bits(word_, 10, 6);
    const bool left = extended || bits(word_, 22, 2) == 0;
    if (subtracts || !left || shift > 4 || rm(word_) == kZero ||
        (rn(word_) == kZero && !extended)) {
      mix(rn(word_), size());
      mix(rm(word_), size());
      return extended && bits(word_, 29, 1) == 0 ? put_or_sp(rd(word_), {}, kWord)
                                                 : lose(rd(word_));
    }
    ValueAddress place = {.base = rn(word_), .index = rm(word_)};
    place.scale = static_cast<std::uint8_t>(1U << shift);
    if (extended) {
      extend(place, bits(word_, 13, 3));
    }
    place.index_size = std::min(place.index_size, size());
    note(rn(word_), size());
    note(rm(word_), place.index_size);
    const ValueWrite value = sum(place, size());
    extended ? put_or_sp(rd(word_), value, size()) : put(rd(word_), value, size());
  }

  void branches() {
    if (is_call(word_)) {
      return lose(kLink);
    }
    if (is(word_, 0x7e000000, 0x34000000)) {  // cbz, cbnz
      return note(rd(word_), size());
    }
    if (is(word_, 0x7e000000, 0x36000000)) {  // tbz, tbnz: of one bit
      const std::uint32_t bit = bits(word_, 31, 1) << 5U | bits(word_, 19, 5);
      return note(rd(word_), static_cast<std::uint8_t>(std::bit_ceil(bit / 8 + 1)));
    }
    if (is(word_, 0xfe000000, 0xd6000000)) {
      return to_register();
    }
    if (is(word_, 0xffe0001f, 0xd4000001)) {  // svc
      return lose(0);
    }
    if (is(word_, 0xffc00000, 0xd5000000) && !is_hint(word_)) {
      system();
    }
  }

  void to_register() {
    const bool calls = bits(word_, 21, 2) == 1;
    note(rn(word_), kWord);
    if (calls) {
      if (rn(word_) != kZero) {
        out_.target = part(rn(word_), kWord);
      }
      lose(kLink);
    }
  }

  // mrs and sysl write a register; msr and sys read one, and some (dc zva) clear memory there.
  void system() {
    if (bits(word_, 21, 1) != 0) {
      return lose(rd(word_));
    }
    mix(rd(word_), kWord);
    if (bits(word_, 19, 2) == 1) {
      store_somewhere();
    }
  }

  // Moves between general and vector registers, and conversions.
  void vectors() {
    const bool converts = is(word_, 0x5f20fc00, 0x1e200000);
    const bool fixed_point = is(word_, 0x5f200000, 0x1e000000);
    const std::uint32_t opcode = bits(word_, 16, 3);
    const bool from_general = opcode == 2 || opcode == 3 || (converts && opcode == 7);
    if (converts || fixed_point) {
      return from_general ? mix(rn(word_), size()) : lose(rd(word_));
    }
    if (is(word_, 0xbfe0fc00, 0x0e000c00) || is(word_, 0xffe0fc00, 0x4e001c00)) {
      return mix(rn(word_), kWord);  // dup, ins
    }
    if (is(word_, 0xbfe0ec00, 0x0e002c00)) {
      return lose(rd(word_));  // umov, smov
    }
  }
};

class Reader final : public ValueReader {
 public:
  std::optional<ValueFlow> read(ByteView code, Address address) override {
    const auto word = word_at(code, 0);
    ValueFlow out;
    return word && Steps(*word, address, out).read() ? std::optional(std::move(out)) : std::nullopt;
  }
  [[nodiscard]] std::span<const Register> results() const override { return kResults; }

 private:
  static constexpr std::array<Register, 2> kResults = {0, 1};
};

}  // namespace

std::unique_ptr<ValueReader> make_value_reader(const CodeReader& /*around*/) {
  return std::make_unique<Reader>();
}

}  // namespace whocall::aarch64
