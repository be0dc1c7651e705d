#include "arguments/value_state.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace whocall {
namespace {

using Kind = Value::Kind;

constexpr int kEntryWords = 24;        // arguments on the stack that are followed
// What is only an older value of an instruction's, apart from what meets there.
constexpr std::uint64_t kStale = std::uint64_t{1} << 63U;
constexpr std::size_t kMostWords = 512;  // of a frame; more are not followed

// Where a word's values are numbered: registers come first.
std::int64_t place_of_word(std::int64_t offset) { return kFollowedLimit + 0x40000000 + offset; }

}  // namespace

bool is_exposed(const std::set<std::int64_t>& exposed, std::int64_t offset) {
  constexpr std::int64_t kFarthest = 4096;  // bytes of an object
  const auto above = exposed.upper_bound(offset);
  if (above == exposed.begin()) {
    return false;
  }
  const std::int64_t nearest = *std::prev(above);
  return offset - nearest < kFarthest && (offset < 0) == (nearest < 0);
}

ValueState::ValueState(const Architecture& arch, ValueTable& table, std::uint64_t at) {
  for (Register number = 0; number < kFollowedLimit; ++number) {
    registers_[number] = table.intern(
        {.kind = Kind::met, .size = arch.registers.size, .number = number, .at = at});
  }
}

ValueState ValueState::on_entry(const Architecture& arch, ValueTable& table) {
  ValueState state(arch, table, 0);
  for (Register number = 0; number < kFollowedLimit; ++number) {
    state.registers_[number] = table.entry(number);
  }
  state.registers_[arch.registers.sp] = table.cfa(-std::int64_t{arch.frame.cfa_on_entry});
  for (int i = 0; i < kEntryWords; ++i) {
    const std::int64_t offset = std::int64_t{i} * table.word();
    state.words_[offset] = {table.word(), table.entry_word(offset)};
  }
  return state;
}

ValueId ValueState::word_at(std::int64_t offset, std::uint8_t size) const {
  const auto found = words_.find(offset);
  return found != words_.end() && found->second.size == size ? found->second.value : 0;
}

void ValueState::apply(const ValueFlow& flow, ValueTable& table, std::uint64_t at,
                       std::set<std::int64_t>& exposed) {
  // All is read before anything is written, but for a push and a pop, whose order tells.
  for (const ValueWrite& write : flow.writes) {
    const ValueId value = value_of(write, table, at);
    if (write.destination) {
      const bool is_new = value == 0;
      const ValueId made = is_new ? table.intern({.kind = Kind::made,
                                                  .size = table.word(),
                                                  .number = *write.destination,
                                                  .at = at})
                                  : value;
      if (is_new) {
        drop_stale(made, table, at);
      }
      set(*write.destination, made);
    } else {
      const ValueId where =
          write.stored_at.known ? address_of(write.stored_at, table) : ValueId{0};
      store(where, write.stored_size, value, table, exposed);
    }
  }
}

// A loop comes back to the instruction: what still holds its last value must not look as if it held
// the new one.
void ValueState::drop_stale(ValueId made, ValueTable& table, std::uint64_t at) {
  for (Register number = 0; number < kFollowedLimit; ++number) {
    if (registers_[number] == made) {
      registers_[number] = table.intern(
          {.kind = Kind::met, .size = table.word(), .number = number, .at = at | kStale});
    }
  }
  std::erase_if(words_, [&](const auto& word) { return word.second.value == made; });
}

ValueId ValueState::address_of(const ValueAddress& place, ValueTable& table) const {
  ValueId base = place.base ? get(*place.base) : table.constant(0);
  if (place.index) {
    const ValueId index = get(*place.index);
    if (!table.is(index, Kind::constant)) {
      return 0;
    }
    base = table.sum(base, table[index].number * place.scale);
  }
  return table.sum(base, place.offset);
}

ValueId ValueState::value_of(const ValueWrite& write, ValueTable& table, std::uint64_t at) {
  switch (write.from) {
    case ValueWrite::From::unknown:
      return 0;
    case ValueWrite::From::constant:
      return table.constant(write.number);
    case ValueWrite::From::reg:
      return table.narrowed(get(write.source), write.size, write.is_signed);
    case ValueWrite::From::address:
      return table.narrowed(address_of(write.place, table), write.size, false);
    case ValueWrite::From::memory:
      return load(write, table, at);
  }
  return 0;
}

ValueId ValueState::load(const ValueWrite& write, ValueTable& table, std::uint64_t at) {
  const ValueId where = address_of(write.place, table);
  if (where == 0) {
    return 0;
  }
  if (!table.is(where, Kind::cfa)) {
    const ValueId loaded = table.intern(
        {.kind = Kind::loaded, .size = write.size, .base = where, .at = at});
    drop_stale(loaded, table, at);
    return table.narrowed(loaded, write.size, write.is_signed);
  }
  const std::int64_t offset = table[where].number;
  const auto found = words_.find(offset);
  if (found != words_.end() && found->second.size >= write.size) {
    return table.narrowed(found->second.value, write.size, write.is_signed);
  }
  const ValueId made = table.intern({.kind = Kind::made,
                                     .size = table.word(),
                                     .number = place_of_word(offset),
                                     .at = at});
  drop_stale(made, table, at);
  drop_words(offset, offset + write.size);
  const ValueId whole = table.narrowed(made, write.size, false);
  words_[offset] = {write.size, whole};
  return table.narrowed(whole, write.size, write.is_signed);
}

void ValueState::store(ValueId where, std::uint8_t size, ValueId what, const ValueTable& table,
                       std::set<std::int64_t>& exposed) {
  if (table.is(what, Kind::cfa)) {
    exposed.insert(table[what].number);
  }
  if (!table.is(where, Kind::cfa)) {
    return drop_exposed(exposed);
  }
  const std::int64_t offset = table[where].number;
  drop_words(offset, offset + size);
  if (what != 0 && words_.size() < kMostWords) {
    words_[offset] = {size, what};
  }
}

void ValueState::drop_words(std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kWidest = 64;  // bytes of one word that is followed
  auto each = words_.lower_bound(begin - kWidest);
  while (each != words_.end() && each->first < end) {
    const bool apart = each->first + each->second.size <= begin;
    each = apart ? std::next(each) : words_.erase(each);
  }
}

void ValueState::drop_exposed(const std::set<std::int64_t>& exposed) {
  std::erase_if(words_, [&](const auto& word) { return is_exposed(exposed, word.first); });
}

void ValueState::after_call(const Architecture& arch, ValueTable& table, std::uint64_t at,
                            const WrittenRegisters& written, std::set<std::int64_t>& exposed) {
  for (const Register number : arch.registers.arguments) {
    if (table.is(get(number), Kind::cfa)) {
      exposed.insert(table[get(number)].number);
    }
  }
  const auto& kept = arch.registers.callee_saved;
  for (Register number = 0; number < kFollowedLimit; ++number) {
    if (number == arch.registers.sp || !written.test(number) ||
        std::ranges::find(kept, number) != kept.end()) {
      continue;
    }
    const ValueId made = table.intern(
        {.kind = Kind::made, .size = table.word(), .number = number, .at = at});
    drop_stale(made, table, at);
    registers_[number] = made;
  }
  drop_exposed(exposed);
  const ValueId sp = get(arch.registers.sp);
  if (table.is(sp, Kind::cfa)) {
    std::erase_if(words_, [&](const auto& word) { return word.first < table[sp].number; });
  }
}

bool ValueState::merge(const ValueState& other, ValueTable& table, std::uint64_t at) {
  struct Met {
    std::int64_t place;
    ValueId* held;
    ValueId brought;
  };
  std::vector<Met> all;
  for (Register number = 0; number < kFollowedLimit; ++number) {
    all.push_back({number, &registers_[number], other.registers_[number]});
  }
  const std::size_t before = words_.size();
  std::erase_if(words_, [&](const auto& word) {
    const auto found = other.words_.find(word.first);
    return found == other.words_.end() || found->second.size != word.second.size;
  });
  bool lost = words_.size() != before;
  for (auto& [offset, word] : words_) {
    all.push_back({place_of_word(offset), &word.value, other.words_.find(offset)->second.value});
  }
  std::map<std::pair<ValueId, ValueId>, std::vector<const Met*>> groups;
  for (const Met& one : all) {
    groups[{*one.held, one.brought}].push_back(&one);
  }
  for (const auto& [pair, places] : groups) {
    const auto& [held, brought] = pair;
    const Value& known = table[held];
    const bool was_met = known.kind == Kind::met && known.at == at;
    const auto is_its_own = [&](const Met* one) { return one->place == known.number; };
    if (held == brought && (!was_met || std::ranges::any_of(places, is_its_own))) {
      continue;
    }
    const ValueId met = table.intern({.kind = Kind::met,
                                      .size = table.word(),
                                      .number = places.front()->place,
                                      .at = at});
    for (const Met* one : places) {
      lost = lost || *one->held != met;
      *one->held = met;
    }
  }
  return lost;
}

}  // namespace whocall
