#include "arch/riscv/addresses.h"

#include "arch/riscv/fields.h"

namespace whocall::riscv {
namespace {

// Of the registers that hold addresses those that calls leave as they were: s0, s1, s2 to s11, and
// gp.
constexpr bool is_preserved(std::size_t number) {
  return number == kGp || number == 8 || number == 9 || (number >= 18 && number <= 27);
}

constexpr bool is_store(std::uint32_t word) { return opcode(word) == 0x23 || opcode(word) == 0x27; }
constexpr bool is_other_load(std::uint32_t word) {
  return opcode(word) == kLoad || opcode(word) == 0x07;
}

}  // namespace

void Addresses::put(Register to, std::optional<Value> value) {
  if (to != kZero) {
    values_.at(to) = value;
    put_ = to;
  }
}

std::optional<Addresses::Named> Addresses::count_on(Register to, Register from,
                                                    std::int64_t amount) {
  const auto base = values_.at(from);
  if (!base || base->is_slot) {
    return std::nullopt;
  }
  const Address address = base->address + static_cast<Address>(amount);
  put(to, Value{.address = address, .is_whole = true});
  return Named{address, to};
}

std::optional<Addresses::Named> Addresses::load(Register to, Register from, std::int64_t amount,
                                                bool whole_word) {
  const auto base = values_.at(from);
  if (!base || base->is_slot) {
    return std::nullopt;
  }
  const Address address = base->address + static_cast<Address>(amount);
  if (whole_word) {
    put(to, Value{.address = address, .is_slot = true, .is_whole = true});
  }
  return Named{address};
}

std::optional<Addresses::Named> Addresses::take(ByteView code, Address here) {
  put_.reset();
  const auto parcel = parcel_at(code, 0);
  if (parcel && is_compressed(*parcel)) {
    return take_compressed(*parcel);
  }
  const auto word = word_at(code, 0);
  return word ? take_word(*word, here) : std::nullopt;
}

std::optional<Addresses::Named> Addresses::take_word(std::uint32_t word, Address here) {
  if (is_auipc(word)) {
    put(rd(word), Value{.address = here + static_cast<Address>(immediate_u(word))});
  } else if (opcode(word) == kLui && fixed_) {
    put(rd(word), Value{.address = static_cast<Address>(immediate_u(word))});
  } else if (is_addi(word)) {
    return count_on(rd(word), rs1(word), immediate_i(word));
  } else if (is_other_load(word)) {
    return load(rd(word), rs1(word), immediate_i(word), is_ld(word));
  } else if (is_store(word)) {
    return load(kZero, rs1(word), immediate_s(word), false);
  }
  return std::nullopt;
}

// c.lui, c.addi, c.mv, c.ld; others name no whole addresses.
std::optional<Addresses::Named> Addresses::take_compressed(std::uint32_t parcel) {
  const std::uint32_t form = parcel & 0xe003U;
  const auto to = static_cast<Register>(bits(parcel, 7, 5));
  const auto second = static_cast<Register>(bits(parcel, 2, 5));
  const std::int64_t amount = sign_extended(bits(parcel, 12, 1) << 5U | bits(parcel, 2, 5), 6);
  if (form == 0x6001 && to != kSp && fixed_) {
    put(to, Value{.address = static_cast<Address>(amount * 4096)});
  } else if (form == 0x0001) {
    return count_on(to, to, amount);
  } else if ((parcel & 0xf003U) == 0x8002 && second != kZero && values_.at(second)) {
    put(to, values_.at(second));
  } else if (form == 0x6000) {
    const std::int64_t offset = bits(parcel, 10, 3) << 3U | bits(parcel, 5, 2) << 6U;
    return load(static_cast<Register>(8 + bits(parcel, 2, 3)),
                static_cast<Register>(8 + bits(parcel, 7, 3)), offset, true);
  }
  return std::nullopt;
}

// gp is set once; functions of foreign code that change it put it back.
void Addresses::forget(const Instruction& instruction) {
  using Flow = Instruction::Flow;
  for (const Effect& effect : instruction.list()) {
    const bool stores =
        effect.kind == Effect::Kind::store || effect.kind == Effect::Kind::store_other;
    if (!stores && effect.destination != put_ && effect.destination != kGp) {
      values_.at(effect.destination).reset();
    }
  }
  const bool calls = instruction.flow == Flow::call;
  if (calls || (instruction.flow != Flow::next && instruction.flow != Flow::branch)) {
    for (std::size_t number = 0; number < values_.size(); ++number) {
      if (number != kGp && !(calls && is_preserved(number))) {
        values_[number].reset();
      }
    }
  }
}

}  // namespace whocall::riscv
