#include "arch/loongarch/addresses.h"

#include "arch/loongarch/fields.h"

namespace whocall::loongarch {
namespace {

using Kind = Addresses::Value::Kind;

// tp, sp, fp and s0 to s8: calls leave them as they were.
constexpr bool is_preserved(std::size_t number) {
  return number == kTp || number == kSp || number >= kFp;
}

// ld.d and its kin with 12 bits of an offset, floating point and vectors among them, but for preld.
constexpr bool has_offset12(std::uint32_t word) {
  return is(word, 0xf8000000, 0x28000000) && !has_opcode(word, 0x2ac00000);
}
// ldptr.w, stptr.w, ldptr.d, stptr.d
constexpr bool has_offset14(std::uint32_t word) { return is(word, 0xfc000000, 0x24000000); }
constexpr bool is_ldptr(std::uint32_t word) { return is(word, 0xff000000, 0x26000000); }  // ldptr.d
constexpr bool is_ldx(std::uint32_t word) { return is(word, 0xffff8000, 0x380c0000); }    // ldx.d

}  // namespace

void Addresses::put(Register to, std::optional<Value> value) {
  if (to != kZero) {
    values_.at(to) = value;
    put_ = to;
  }
}

std::optional<Addresses::Named> Addresses::name(Register to, Value value) {
  put(to, value);
  const bool names =
      value.kind == Kind::address || (value.kind == Kind::number && fixed_ && value.value != 0);
  return names && to != kZero ? std::optional(Named{value.value, to}) : std::nullopt;
}

bool Addresses::take_number(std::uint32_t word) {
  const auto replace = [&](const std::optional<Value>& from, std::int64_t part, unsigned low) {
    const Address mask = (Address{1} << low) - 1;
    if (from && from->kind == Kind::number) {
      const Address upper = static_cast<Address>(part) << low;
      put(rd(word), Value{(from->value & mask) | upper, Kind::number});
    }
  };
  if (is_lu12i(word)) {
    put(rd(word), Value{static_cast<Address>(si20(word) * 0x1000), Kind::number});
  } else if (is_lu32i(word)) {
    replace(at(rd(word)), si20(word), 32);
  } else if (is_lu52i(word)) {
    replace(at(rj(word)), si12(word), 52);
  } else {
    return false;
  }
  return true;
}

std::optional<Addresses::Named> Addresses::sum(Register to, std::optional<Value> left,
                                               std::optional<Value> right) {
  if (!left || !right || left->kind == Kind::slot || right->kind == Kind::slot ||
      (left->kind != Kind::number && right->kind != Kind::number)) {
    return std::nullopt;
  }
  const bool numbers = left->kind == Kind::number && right->kind == Kind::number;
  return name(to, {left->value + right->value, numbers ? Kind::number : Kind::address});
}

std::optional<Addresses::Named> Addresses::access(std::uint32_t word, std::int64_t offset,
                                                  bool loads_word) {
  const auto base = at(rj(word));
  if (!base || base->kind == Kind::slot || (base->kind == Kind::number && !fixed_) ||
      rj(word) == kZero) {
    return std::nullopt;
  }
  const Address address = base->value + static_cast<Address>(offset);
  if (loads_word) {
    put(rd(word), Value{address, Kind::slot});
  }
  return Named{address};
}

std::optional<Addresses::Named> Addresses::take(std::uint32_t word, Address here) {
  put_.reset();
  if (counts_from_pc(word)) {
    return name(rd(word),
                {counted_from_pc(word, here), is_pcaddi(word) ? Kind::address : Kind::page});
  }
  if (take_number(word)) {
    return std::nullopt;
  }
  if (is_addi(word)) {
    return sum(rd(word), at(rj(word)), Value{static_cast<Address>(si12(word)), Kind::number});
  }
  if (is_ori(word)) {
    const auto from = at(rj(word));
    return from && from->kind == Kind::number
               ? name(rd(word), {from->value | static_cast<Address>(ui12(word)), Kind::number})
               : std::nullopt;
  }
  if (is_add(word)) {
    return sum(rd(word), at(rj(word)), at(rk(word)));
  }
  if (is_move(word) && at(rj(word))) {
    put(rd(word), at(rj(word)));
  } else if (is_ldx(word)) {
    const auto found = sum(rd(word), at(rj(word)), at(rk(word)));
    if (found) {
      put(rd(word), Value{found->address, Kind::slot});
      return Named{found->address};
    }
  } else if (has_offset12(word)) {
    return access(word, si12(word), is_load(word));
  } else if (has_offset14(word)) {
    return access(word, si14(word) * 4, is_ldptr(word));
  }
  return std::nullopt;
}

void Addresses::forget(const Instruction& instruction) {
  using Flow = Instruction::Flow;
  for (const Effect& effect : instruction.list()) {
    const bool stores = effect.kind == Effect::Kind::store ||
                        effect.kind == Effect::Kind::store_other ||
                        effect.kind == Effect::Kind::compare;
    if (!stores && effect.destination != put_) {
      values_.at(effect.destination).reset();
    }
  }
  const bool calls = instruction.flow == Flow::call;
  const bool goes_on = instruction.flow == Flow::next || instruction.flow == Flow::branch ||
                       instruction.flow == Flow::branch_if_unequal;
  for (std::size_t number = 0; !goes_on && number < values_.size(); ++number) {
    if (!calls || !is_preserved(number)) {
      values_[number].reset();
    }
  }
}

}  // namespace whocall::loongarch
