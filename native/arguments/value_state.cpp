#include "arguments/value_state.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "arguments/argument_place.h"

namespace whocall {
namespace {

using Kind = Value::Kind;

constexpr std::size_t kMostWords = 256;  // of a frame; more are not followed

// Places have numbers: those of registers, and beyond them words by their offsets.
constexpr std::int64_t kMiddle = std::int64_t{1} << 40U;
std::int64_t place_of_word(std::int64_t offset) { return wrapped_sum(kMiddle, offset); }

// How many places hold the registers that the ABI has a use for.
Register places_in_use(const RegisterFile& registers) {
  const FollowedRegisters& followed = registers.followed;
  Register count = 0;
  const auto use = [&](Register number) {
    const auto behind = static_cast<Register>(followed.place(number) + 1);
    count = followed.has(number) ? std::max(count, behind) : count;
  };
  std::ranges::for_each(std::array{registers.sp, registers.fp}, use);
  std::ranges::for_each(registers.callee_saved, use);
  std::ranges::for_each(registers.arguments, use);
  use(registers.link.value_or(registers.sp));
  return count;
}

}  // namespace

bool is_exposed(const ExposedWords& exposed, std::int64_t offset) {
  constexpr std::int64_t kFarthest = 4096;  // bytes of an object
  const auto above = exposed.upper_bound(offset);
  if (above == exposed.begin()) {
    return false;
  }
  const std::int64_t nearest = *std::prev(above);
  return wrapped_sum(offset, wrapped_product(nearest, -1)) < kFarthest &&
         (offset < 0) == (nearest < 0);
}

ValueState::ValueState(const Architecture& arch)
    : sp_(arch.registers.sp),
      fp_(arch.registers.fp),
      registers_(arch.registers.followed, places_in_use(arch.registers)) {}

ValueState ValueState::on_entry(const Architecture& arch, ValueTable& table) {
  ValueState state(arch);
  state.registers_.change_each(
      [&](Register number, ValueId& value) { value = table.entry(number); });
  state.set(arch.registers.sp, table.cfa(-std::int64_t{arch.frame.cfa_on_entry}));
  for (std::size_t i = 0; i < kArgumentWords; ++i) {
    const auto offset = static_cast<std::int64_t>(i * table.word());
    state.words_.push_back({offset, table.word(), table.entry_word(offset), false});
  }
  return state;
}

const HeldWord* ValueState::word_at(std::int64_t offset) const {
  const auto found = std::ranges::lower_bound(words_, offset, {}, &HeldWord::offset);
  return found != words_.end() && found->offset == offset ? &*found : nullptr;
}

void ValueState::apply(const ValueFlow& flow, ValueTable& table, std::uint64_t at,
                       ExposedWords& exposed) {
  expose_mixed(flow, table, exposed);
  for (const ValueWrite& write : flow.writes) {
    ValueId value = value_of(write, table, at);
    if (!write.destination) {
      const ValueId where = write.stored_at.known ? address_of(write.stored_at, table) : 0;
      store(where, write.stored_size, value, table, exposed);
      continue;
    }
    if (value != 0 && write.only_low != 0) {
      value = table.partial(value, write.only_low, *write.destination, at);
    } else if (value == 0) {
      value =
          make({.kind = Kind::made, .size = table.word(), .number = *write.destination, .at = at},
               table);
    }
    set(*write.destination, value);
  }
}

// Folklore. Situation: a pointer is one out of several, or one to an element. Example: f(which ? &x
// : &y) is a cmov, f(&many[i]) a lea with an index. Remedy: what is not followed any more counts as
// handed away; where it was counted from the frame pointer, or may have been counted back, all of
// the frame. The stack pointer itself is only moved by such computations.
void ValueState::expose_mixed(const ValueFlow& flow, const ValueTable& table,
                              ExposedWords& exposed) const {
  const auto expose = [&](Register number, std::int64_t offset) {
    if (table.is(get(number), Kind::cfa)) {
      exposed.insert(wrapped_sum(table[get(number)].number, offset));
    }
  };
  for (const Register number : flow.mixed) {
    const bool whole = (number == fp_ || flow.both_ways) && table.is(get(number), Kind::cfa);
    if (number != sp_) {
      expose(whole && table.is(get(sp_), Kind::cfa) ? sp_ : number, 0);
    }
  }
  for (const ValueWrite& write : flow.writes) {
    const bool is_address = write.from == ValueWrite::From::address;
    const ValueAddress& place = is_address ? write.place : write.stored_at;
    const bool is_followed = !place.index || table.is(get(*place.index), Kind::constant);
    if (!is_followed && place.base && (is_address || !write.destination)) {
      expose(*place.base, place.offset);
      expose(*place.index, place.offset);
    }
  }
}

// What an instruction makes. A loop comes back to it: what still holds its last value must not look
// as if it held the new one.
ValueId ValueState::make(const Value& value, ValueTable& table) {
  bool known = false;
  const ValueId made = table.intern(value, known);
  if (known) {
    registers_.change_each(
        [&](Register /*number*/, ValueId& held) { held = held == made ? 0 : held; });
    std::erase_if(words_, [&](const HeldWord& word) { return word.value == made; });
  }
  return made;
}

ValueId ValueState::address_of(const ValueAddress& place, ValueTable& table) const {
  ValueId base = place.base ? get(*place.base) : table.constant(0);
  if (place.index) {
    const ValueId index = table.narrowed(get(*place.index), place.index_size, place.index_signed);
    if (!table.is(index, Kind::constant)) {
      return 0;
    }
    const std::int64_t scaled = wrapped_product(table[index].number, place.scale);
    base = table.sum(base, scaled);
  }
  return table.sum(base, place.offset);
}

ValueId ValueState::value_of(const ValueWrite& write, ValueTable& table, std::uint64_t at) {
  switch (write.from) {
    case ValueWrite::From::unknown:
      return 0;
    case ValueWrite::From::constant:
      return write.kept == 0 ? table.constant(write.number) : put_in(write, table);
    case ValueWrite::From::reg:
      return table.narrowed(get(write.source), write.size, write.is_signed);
    case ValueWrite::From::address:
      return table.narrowed(address_of(write.place, table), write.size, write.is_signed);
    case ValueWrite::From::memory:
      return load(write, table, at);
  }
  return 0;
}

// A constant of many bits comes in parts.
ValueId ValueState::put_in(const ValueWrite& write, ValueTable& table) const {
  const ValueId old = write.destination ? get(*write.destination) : 0;
  if (!table.is(old, Kind::constant)) {
    return 0;
  }
  const std::uint64_t kept = static_cast<std::uint64_t>(table[old].number) & write.kept;
  return table.constant(static_cast<std::int64_t>(kept) | write.number);
}

ValueId ValueState::load(const ValueWrite& write, ValueTable& table, std::uint64_t at) {
  const ValueId where = address_of(write.place, table);
  if (where == 0) {
    return 0;
  }
  const HeldWord* const found = table.is(where, Kind::cfa) ? word_at(table[where].number) : nullptr;
  if (!table.is(where, Kind::cfa) || (found != nullptr && found->unsure)) {
    const ValueId loaded =
        make({.kind = Kind::loaded, .size = write.size, .base = where, .at = at}, table);
    return table.narrowed(loaded, write.size, write.is_signed);
  }
  const std::int64_t offset = table[where].number;
  if (found != nullptr && found->size >= write.size) {
    return table.narrowed(found->value, write.size, write.is_signed);
  }
  const ValueId made = make(
      {.kind = Kind::made, .size = table.word(), .number = place_of_word(offset), .at = at}, table);
  const ValueId whole = table.narrowed(made, write.size, false);
  put_word({offset, write.size, whole, false});
  return table.narrowed(whole, write.size, write.is_signed);
}

void ValueState::store(ValueId where, std::uint8_t size, ValueId what, const ValueTable& table,
                       ExposedWords& exposed) {
  if (table.is(what, Kind::cfa)) {
    exposed.insert(table[what].number);
  }
  if (!table.is(where, Kind::cfa)) {
    return doubt_exposed(exposed);
  }
  const std::int64_t offset = table[where].number;
  if (what != 0) {
    put_word({offset, size, what, false});
  } else {
    drop_words(offset, wrapped_sum(offset, size));
  }
}

void ValueState::put_word(const HeldWord& word) {
  drop_words(word.offset, wrapped_sum(word.offset, word.size));
  if (words_.size() < kMostWords) {
    words_.insert(std::ranges::lower_bound(words_, word.offset, {}, &HeldWord::offset), word);
  }
}

void ValueState::drop_words(std::int64_t begin, std::int64_t end) {
  std::erase_if(words_, [&](const HeldWord& word) {
    return word.offset < end && begin < wrapped_sum(word.offset, word.size);
  });
}

void ValueState::doubt_exposed(const ExposedWords& exposed) {
  for (HeldWord& word : words_) {
    word.unsure = word.unsure || (!exposed.empty() && is_exposed(exposed, word.offset));
  }
}

void ValueState::after_call(const Architecture& arch, ValueTable& table, std::uint64_t at,
                            const CallResult& result, ExposedWords& exposed) {
  for (const Register number : arch.registers.arguments) {
    if (table.is(get(number), Kind::cfa)) {
      exposed.insert(table[get(number)].number);
    }
  }
  const auto& kept = arch.registers.callee_saved;
  for (Register place = 0; place < registers_.count(); ++place) {
    const Register number = registers_.number(place);
    if (number == arch.registers.sp || !result.written.test(number) ||
        std::ranges::find(kept, number) != kept.end()) {
      continue;
    }
    const bool returned = std::ranges::find(result.returned, number) != result.returned.end();
    set(number,
        returned
            ? make({.kind = Kind::made, .size = table.word(), .number = number, .at = at}, table)
            : 0);
  }
  doubt_exposed(exposed);
  const ValueId sp = get(arch.registers.sp);
  if (table.is(sp, Kind::cfa)) {
    std::erase_if(words_, [&](const HeldWord& word) { return word.offset < table[sp].number; });
  }
}

ValueId ValueState::value_in(std::int64_t place) const {
  if (place < kRegisterLimit) {
    return get(static_cast<Register>(place));
  }
  const HeldWord* const word = word_at(wrapped_sum(place, -kMiddle));
  return word != nullptr ? word->value : 0;
}

// True when some were dropped.
bool ValueState::keep_common_words(const ValueState& other) {
  return std::erase_if(words_, [&](const HeldWord& word) {
           const HeldWord* const theirs = other.word_at(word.offset);
           return theirs == nullptr || theirs->size != word.size;
         }) != 0;
}

bool ValueState::merge(const ValueState& other, ValueTable& table, std::uint64_t at,
                       ExposedWords& exposed) {
  bool lost = keep_common_words(other);
  for (HeldWord& word : words_) {
    const bool unsure = other.word_at(word.offset)->unsure && !word.unsure;
    word.unsure = word.unsure || unsure;
    lost = lost || unsure;
  }
  struct Met {
    std::pair<ValueId, ValueId> pair;
    std::int64_t place = 0;
    ValueId* held = nullptr;
  };
  std::vector<Met> met;
  const auto look_at = [&](std::int64_t place, ValueId& held, ValueId brought) {
    for (const ValueId one : {held, brought}) {
      if (held != brought && place != sp_ && place != fp_ && table.is(one, Kind::cfa)) {
        exposed.insert(table[one].number);
      }
    }
    if (held == 0 || brought == 0) {
      lost = lost || held != 0;
      held = 0;
      return;
    }
    if (held == brought) {
      const Value& known = table[held];
      const bool is_new = known.kind == Kind::met && known.at == at && known.number != place;
      if (!is_new || (value_in(known.number) == held && other.value_in(known.number) == held)) {
        return;
      }
    }
    met.push_back({{held, brought}, place, &held});
  };
  registers_.change_each(
      [&](Register number, ValueId& held) { look_at(number, held, other.get(number)); });
  for (HeldWord& word : words_) {
    look_at(place_of_word(word.offset), word.value, other.word_at(word.offset)->value);
  }
  std::ranges::stable_sort(met, {}, &Met::pair);
  ValueId number = 0;
  for (auto one = met.begin(); one != met.end(); ++one) {
    if (one == met.begin() || one->pair != std::prev(one)->pair) {
      number =
          table.intern({.kind = Kind::met, .size = table.word(), .number = one->place, .at = at});
    }
    lost = lost || *one->held != number;
    *one->held = number;
  }
  std::erase_if(words_, [](const HeldWord& word) { return word.value == 0; });
  return lost;
}

}  // namespace whocall
