#include "arch/arm/value_steps.h"

#include <algorithm>

namespace whocall::arm {
namespace {

constexpr Register kLastArgument = 3;
constexpr unsigned kFarthestShift = 7;  // of an index

// Folklore. Situation: prologues push registers of arguments for nothing but room. Example: push
// {r0, r1, r2, lr}. Functions that take a variable number push those that may hold some, before
// all others. Example: push {r1, r2, r3}. Remedy: what is pushed counts as read in that form alone.
bool saves_unnamed(const std::uint32_t list) {
  constexpr std::uint32_t kArguments = (2U << kLastArgument) - 1;
  const std::uint32_t first = list & (~list + 1);
  return std::popcount(list) >= 2 && list + first == kArguments + 1;
}

}  // namespace

ValueWrite ValueParts::value_of(Register from, std::uint8_t size) {
  return from == kPc ? constant(wrapped(pc())) : part(from, size);
}

void ValueParts::put_in(Register to, const ValueWrite& value) {
  leaves_ = leaves_ || to == kPc;
  put(to, value);
}

void ValueParts::call(Register to) {
  out_.target = value_of(to);
  lose(kLink);
}

void ValueParts::add(Register to, Register from, std::int64_t amount) {
  if (from == kPc) {
    const Address base = thumb_ ? data_base(address_, true) : pc();
    return put_in(to, constant(wrapped(base + static_cast<Address>(amount))));
  }
  note(from, kWord);
  put_in(to, sum({.base = from, .offset = amount}, kWord));
}

void ValueParts::add(Register to, Register from, Register index, unsigned shift) {
  if (shift > kFarthestShift || (index == kPc && (from == kPc || shift != 0))) {
    return compute(to, {from, index});
  }
  ValueAddress place;
  if (from == kPc || index == kPc) {
    place.offset = static_cast<std::int64_t>(pc());
  } else {
    place.base = from;
  }
  place.index = index == kPc ? from : index;
  place.scale = static_cast<std::uint8_t>(1U << shift);
  note(place);
  mix_address(place);
  put_in(to, sum(place, kWord));
}

// The result may be any address of an object, whatever the base is one of.
void ValueParts::mix_address(const ValueAddress& place) {
  out_.both_ways = true;
  for (const auto& part : {place.base, place.index}) {
    if (part) {
      out_.mixed.push_back(*part);
    }
  }
}

void ValueParts::compute(Register to, std::initializer_list<Register> from) {
  out_.both_ways = true;
  for (const Register each : from) {
    mix(each);
  }
  put_in(to, {});
}

void ValueParts::compare(std::initializer_list<Register> registers) {
  for (const Register each : registers) {
    note(each, kWord);
  }
}

void ValueParts::shift_left(Register to, Register from, unsigned amount) {
  mix(from, static_cast<std::uint8_t>(kWord - amount / 8));
  put_in(to, {});
}

void ValueParts::extract(Register to, Register from, unsigned low, unsigned count, bool is_signed) {
  if (low == 0 && (count == 8 || count == 16)) {
    return put_in(to, part(from, static_cast<std::uint8_t>(count / 8), is_signed));
  }
  const unsigned bytes = std::min((low + count + 7) / 8, unsigned{kWord});
  mix(from, static_cast<std::uint8_t>(bytes));
  put_in(to, {});
}

void ValueParts::extend(Register to, Register from, Register part_of, std::uint8_t size,
                        bool is_signed, bool turned) {
  if (turned || size == 0) {
    return compute(to, {from, part_of});
  }
  if (from == kPc) {
    return put_in(to, part(part_of, size, is_signed));
  }
  const ValueAddress place = {
      .base = from, .index = part_of, .index_size = size, .index_signed = is_signed};
  note(place);
  mix_address(place);
  put_in(to, sum(place, kWord));
}

// A constant may come in parts. What is not one is computed.
void ValueParts::change_bits(Register to, Register from, Bits change, std::uint32_t which) {
  if (change == Bits::kept && (which == 0xff || which == 0xffff)) {
    return put_in(to, part(from, which == 0xff ? 1 : 2));
  }
  if (to != from || to == kPc) {
    return compute(to, {from});
  }
  mix(from);
  ValueWrite value = constant(change == Bits::set ? which : 0);
  value.kept = change == Bits::kept ? which : ~which;
  put(to, value);
}

ValueAddress ValueParts::place_of(const Access& access) const {
  const bool moved = access.before || !access.writes_back;
  ValueAddress place;
  place.base = access.base;
  place.offset = moved ? access.offset : 0;
  if (moved && access.index) {
    place.index = access.index;
    place.scale = static_cast<std::uint8_t>(1U << std::min(access.shift, kFarthestShift));
    place.known = !access.odd && access.shift <= kFarthestShift && access.index != kPc;
  }
  if (access.base == kPc) {
    place.base.reset();
    place.offset += static_cast<std::int64_t>(data_base(address_, thumb_));
  }
  return place;
}

void ValueParts::transfer(Register value, const ValueAddress& place, const Access& access) {
  note(place);
  if (access.load) {
    out_.loads.push_back({place, access.size, true});
    return arrive(value, access.size,
                  place.known ? loaded(place, access.size, access.is_signed) : ValueWrite());
  }
  if (place.index) {
    mix_address(place);
  }
  store(place, value == kPc ? ValueWrite() : part(value, access.size), access.size);
}

// What is loaded. Less than a word to the pc is a hint to fetch memory.
void ValueParts::arrive(Register to, std::uint8_t size, const ValueWrite& value) {
  size == kWord ? put_in(to, value) : put(to, value);
}

void ValueParts::access(const Access& access) {
  if (access.base == kPc && access.load && !access.index) {
    return load_literal(access);
  }
  if (access.index) {
    note(*access.index, kWord);
  }
  transfer(access.value, place_of(access), access);
  move_base(access);
}

void ValueParts::move_base(const Access& access) {
  if (!access.writes_back) {
    return;
  }
  if (!access.index) {
    return put(access.base, sum({.base = access.base, .offset = access.offset}, kWord));
  }
  Access moved = access;
  moved.before = true;
  const ValueAddress place = place_of(moved);
  mix_address(place);
  put(access.base, place.known ? sum(place, kWord) : ValueWrite());
}

// Constants of the code stand behind the function that reads them, as a rule.
void ValueParts::load_literal(const Access& access) {
  const ValueAddress place = place_of(access);
  const auto at = wrapped(static_cast<Address>(place.offset));
  const bool whole = access.size == kWord && at >= address_;
  const auto word = whole ? data_word_at(code_, at - address_, code_.endian()) : std::nullopt;
  arrive(access.value, access.size,
         word ? constant(*word) : loaded(place, access.size, access.is_signed));
}

void ValueParts::access_pair(const Access& first, Register second) {
  ValueAddress place = place_of(first);
  if (first.index) {
    note(*first.index, kWord);
  }
  const bool first_is_base = first.load && first.value == first.base;  // it is still needed
  if (!first_is_base) {
    transfer(first.value, place, first);
  }
  place.offset += kWord;
  transfer(second, place, first);
  place.offset -= kWord;
  if (first_is_base) {
    transfer(first.value, place, first);
  }
  if (first.base != kPc) {
    move_base(first);
  }
}

// The words lie in the order of the registers' numbers, the lowest at the lowest address.
void ValueParts::many(const Many& many) {
  const auto size = static_cast<std::int64_t>(std::popcount(many.list)) * kWord;
  const std::int64_t first = many.up ? (many.before ? 4 : 0) : -size + (many.before ? 0 : 4);
  const bool moves = many.writes_back && !(many.load && bit(many.list, many.base));
  note(many.base, kWord);
  if (many.load) {
    load_many(many, first);
  } else {
    const bool pushes = many.base == kSp && moves && !many.up;
    const bool reads = !pushes || saves_unnamed(many.list);
    std::int64_t at = first;
    for (Register each = 0; each <= kPc; ++each) {
      if (!bit(many.list, each)) {
        continue;
      }
      ValueWrite value;
      if (each != kPc && (each > kLastArgument || reads)) {
        value = part(each, kWord);
      } else if (each != kPc) {
        value = {.from = From::reg, .size = kWord, .source = each};
      }
      store({.base = many.base, .offset = at}, value, kWord);
      at += kWord;
    }
  }
  if (moves) {
    put(many.base, sum({.base = many.base, .offset = many.up ? size : -size}, kWord));
  }
}

void ValueParts::load_many(const Many& many, std::int64_t first) {
  std::optional<ValueWrite> of_base;
  std::int64_t at = first;
  for (Register each = 0; each <= kPc; ++each) {
    if (!bit(many.list, each)) {
      continue;
    }
    const ValueAddress place = {.base = many.base, .offset = at};
    out_.loads.push_back({place, kWord, true});
    if (each == many.base) {
      of_base = loaded(place, kWord, false);  // last, as the others are found by it
    } else {
      put_in(each, loaded(place, kWord, false));
    }
    at += kWord;
  }
  if (of_base) {
    put(many.base, *of_base);
  }
}

void ValueParts::load_exclusive(Register base, std::initializer_list<Register> to) {
  note(base, kWord);
  for (const Register each : to) {
    lose(each);
  }
}

void ValueParts::store_exclusive(Register base, std::initializer_list<Register> from,
                                 Register status) {
  constexpr std::uint8_t kPair = 8;
  note(base, kWord);
  for (const Register each : from) {
    mix(each);
  }
  store({.base = base}, {}, kPair);
  lose(status);
}

}  // namespace whocall::arm
