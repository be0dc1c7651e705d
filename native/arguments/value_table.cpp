#include "arguments/value_table.h"

namespace whocall {
namespace {

std::int64_t cut(std::int64_t number, unsigned size, bool is_signed) {
  const unsigned unused = 64 - 8 * size;
  const std::uint64_t high = static_cast<std::uint64_t>(number) << unused;
  return is_signed ? static_cast<std::int64_t>(high) >> unused
                   : static_cast<std::int64_t>(high >> unused);
}

}  // namespace

ValueId ValueTable::intern(const Value& value) {
  const auto [found, fresh] = known_.try_emplace(value, 0);
  if (fresh) {
    values_.push_back(value);
    found->second = static_cast<ValueId>(values_.size());
  }
  return found->second;
}

ValueId ValueTable::sum(ValueId id, std::int64_t offset) {
  if (id == 0 || offset == 0) {
    return id;
  }
  Value value = (*this)[id];
  if (value.kind == Value::Kind::constant) {
    return constant(cut(value.number + offset, word_, false));
  }
  if (value.kind == Value::Kind::cfa || value.kind == Value::Kind::sum) {
    value.number += offset;
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
    return constant(cut(value.number, size, is_signed));
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
