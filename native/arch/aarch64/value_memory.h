// Loads and stores of A64 as steps of values.
#pragma once

#include <array>

#include "arch/aarch64/value_registers.h"

namespace whocall::aarch64 {

class ValueMemory : protected ValueRegisters {
 protected:
  ValueMemory(std::uint32_t word, Address address, ValueFlow& out)
      : ValueRegisters(out), word_(word), address_(address) {}

  // The index as option says: a word or half of one, with its sign or without.
  static void extend(ValueAddress& place, std::uint32_t option) {
    constexpr std::array<std::uint8_t, 4> kSizes = {1, 2, 4, 8};
    place.index_size = kSizes[option & 3U];
    place.index_signed = (option & 4U) != 0;
  }

  void loads_and_stores() {
    if (is(word_, 0x3a000000, 0x28000000)) {
      pair();
    } else if (is(word_, 0x3b000000, 0x18000000)) {
      literal();
    } else if (is(word_, 0x3b000000, 0x39000000)) {
      single({.base = rn(word_), .offset = std::int64_t{bits(word_, 10, 12)} * width()});
    } else if (is(word_, 0x3b200000, 0x38000000)) {
      indexed();
    } else if (is(word_, 0x3b200c00, 0x38200800)) {
      by_index();
    } else if (is(word_, 0x3fe08000, 0x08c08000) || is(word_, 0x3fe08000, 0x08808000)) {
      const bool load = bits(word_, 22, 1) != 0;  // ldar, stlr
      transfer(rd(word_), {.base = rn(word_)}, width(), load, false, std::max(width(), kHalf));
    } else {
      other();
    }
  }

  std::uint32_t word_;
  Address address_;

 private:
  [[nodiscard]] bool vector() const { return bits(word_, 26, 1) != 0; }
  // Of what a single load or store moves, bytes.
  [[nodiscard]] std::uint8_t width() const {
    const std::uint32_t scale =
        vector() ? bits(word_, 30, 2) | bits(word_, 23, 1) << 2U : bits(word_, 30, 2);
    return static_cast<std::uint8_t>(1U << scale);
  }

  // `wide`: the register's size, where the word that is loaded may be smaller.
  void transfer(Register number, const ValueAddress& place, std::uint8_t size, bool load,
                bool is_signed = false, std::uint8_t wide = kWord) {
    note(place);
    if (load) {
      out_.loads.push_back({place, size, !vector()});
      return vector() ? void() : put(number, loaded(place, size, is_signed), wide);
    }
    store(place, vector() ? ValueWrite() : part(number, size), size);
  }

  void pair() {
    const auto second = static_cast<Register>(bits(word_, 10, 5));
    const std::uint32_t scale = bits(word_, 30, 2);
    const bool load = bits(word_, 22, 1) != 0;
    const bool tags = !vector() && scale == 1 && !load;  // stgp, which counts by 16
    const bool is_signed = !vector() && scale == 1 && load;
    const auto size = static_cast<std::uint8_t>(vector()             ? 4U << scale
                                                : scale == 2 || tags ? 8
                                                                     : 4);
    const std::uint8_t wide = is_signed ? kWord : std::min(size, kWord);
    const std::int64_t amount = signed_bits(word_, 15, 7) * (tags ? 16 : size);
    const std::uint32_t form = bits(word_, 23, 2);  // 1: behind, 3: before, 0 and 2: neither
    const std::int64_t offset = form == 1 ? 0 : amount;
    const auto one = [&] {
      transfer(rd(word_), {.base = rn(word_), .offset = offset}, size, load, is_signed, wide);
    };
    const bool first_is_base = load && rd(word_) == rn(word_);  // it is still needed
    first_is_base ? void() : one();
    transfer(second, {.base = rn(word_), .offset = offset + size}, size, load, is_signed, wide);
    first_is_base ? one() : void();
    if ((form & 1U) != 0) {
      move_base(rn(word_), amount);
    }
  }

  void literal() {
    const std::uint32_t kind = bits(word_, 30, 2);
    if (kind == 3 && !vector()) {
      return;  // prfm
    }
    const auto where = static_cast<std::int64_t>(address_) + signed_bits(word_, 5, 19) * 4;
    const std::uint8_t size = kind == 1 ? kWord : kHalf;
    transfer(rd(word_), {.offset = where}, size, true, kind == 2, kind == 0 ? kHalf : kWord);
  }

  // ldr, str and those of smaller words.
  void single(const ValueAddress& place) {
    const std::uint32_t kind = bits(word_, 22, 2);
    if (vector()) {
      return transfer(rd(word_), place, width(), (kind & 1U) != 0);
    }
    if (bits(word_, 30, 2) == 3 && kind == 2) {
      return note(place);  // prfm
    }
    const std::uint8_t wide = kind == 2 || width() == kWord ? kWord : kHalf;
    transfer(rd(word_), place, width(), kind != 0, kind >= 2, wide);
  }

  // The base moves on before, or behind, or not at all.
  void indexed() {
    const std::int64_t amount = signed_bits(word_, 12, 9);
    const std::uint32_t form = bits(word_, 10, 2);
    single({.base = rn(word_), .offset = form == 1 ? 0 : amount});
    if ((form & 1U) != 0) {
      move_base(rn(word_), amount);
    }
  }

  void by_index() {
    ValueAddress place = {.base = rn(word_), .index = rm(word_)};
    place.scale = bits(word_, 12, 1) != 0 ? width() : 1;
    extend(place, bits(word_, 13, 3));
    if (rm(word_) == kZero) {
      place.index.reset();
    }
    single(place);
  }

  // Atomic and exclusive operations, structures of vectors, tags: any register of theirs may be
  // new, and memory there.
  void other() {
    const auto fourth = static_cast<Register>(bits(word_, 10, 5));
    for (const Register number : {rd(word_), rm(word_), fourth}) {
      if (!vector() || number == rm(word_)) {
        mix(number, kWord);
        lose(number);
      }
    }
    const bool moves_base = vector() ? bits(word_, 23, 1) != 0 : !is_atomic();
    note(rn(word_), kWord);
    if (!vector() || bits(word_, 22, 1) == 0) {
      store({.base = rn(word_)}, {}, kMuch);
    }
    if (moves_base) {
      mix(rn(word_), kWord);
      put_or_sp(rn(word_), {}, kWord);
    }
  }
  // Of those that no base moves with: exclusive ones, and ldadd, swp and their kin.
  [[nodiscard]] bool is_atomic() const {
    return is(word_, 0x3f000000, 0x08000000) || is(word_, 0x3b200c00, 0x38200000);
  }
};

}  // namespace whocall::aarch64
