#include "arguments/value_table.h"

#include <algorithm>

#include "base/low_bytes.h"

namespace whocall {
namespace {

std::size_t hash_of(const Value& value) {
  constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  std::uint64_t hash = static_cast<std::uint64_t>(value.kind) << 8U | value.size;
  for (const std::uint64_t part :
       {std::uint64_t{value.base}, static_cast<std::uint64_t>(value.number), value.at}) {
    hash = (hash ^ part) * kMixer;
    hash ^= hash >> 29U;
  }
  return hash;
}

}  // namespace

ValueId ValueTable::intern(const Value& value) {
  bool known = false;
  return intern(value, known);
}

ValueId ValueTable::intern(const Value& value, bool& known) {
  if (2 * values_.size() >= slots_.size()) {
    grow();
  }
  ValueId& slot = slots_[slot_of(value)];
  known = slot != 0;
  if (!known) {
    values_.push_back(value);
    slot = static_cast<ValueId>(values_.size());
  }
  return slot;
}

// Where it is, or belongs.
std::size_t ValueTable::slot_of(const Value& value) const {
  const std::size_t last = slots_.size() - 1;
  std::size_t at = hash_of(value) & last;
  while (slots_[at] != 0 && values_[slots_[at] - 1] != value) {
    at = (at + 1) & last;
  }
  return at;
}

void ValueTable::grow() {
  constexpr std::size_t kFirst = 256;
  slots_.assign(std::max(kFirst, 2 * slots_.size()), 0);
  for (ValueId id = 1; id <= values_.size(); ++id) {
    slots_[slot_of(values_[id - 1])] = id;
  }
}

ValueId ValueTable::sum(ValueId id, std::int64_t offset) {
  if (id == 0 || offset == 0) {
    return id;
  }
  Value value = (*this)[id];
  if (value.kind == Value::Kind::constant) {
    return constant(static_cast<std::int64_t>(
        low_bytes(static_cast<std::uint64_t>(wrapped_sum(value.number, offset)), word_)));
  }
  if (value.kind == Value::Kind::cfa || value.kind == Value::Kind::sum) {
    value.number = wrapped_sum(value.number, offset);
    return value.kind == Value::Kind::sum && value.number == 0 ? value.base : intern(value);
  }
  return intern({.kind = Value::Kind::sum, .size = word_, .base = id, .number = offset});
}

ValueId ValueTable::narrowed(ValueId id, std::uint8_t size, bool is_signed) {
  if (id == 0 || size == 0 || size >= word_) {
    return id;
  }
  const Value& value = (*this)[id];
  if (value.kind == Value::Kind::constant) {
    const auto number = static_cast<std::uint64_t>(value.number);
    return constant(
        static_cast<std::int64_t>(is_signed ? with_sign(number, size) : low_bytes(number, size)));
  }
  if (is_part(id) && size <= value.size) {
    const auto wanted = is_signed ? Value::Kind::extended : Value::Kind::low;
    return value.size == size && value.kind == wanted ? id : narrowed(value.base, size, is_signed);
  }
  const bool is_cleared = value.kind == Value::Kind::low || value.kind == Value::Kind::loaded;
  if (is_cleared && !is_signed && value.size <= size) {
    return id;
  }
  const auto kind = is_signed ? Value::Kind::extended : Value::Kind::low;
  return intern({.kind = kind, .size = size, .base = id});
}

}  // namespace whocall
