// Values by number: what holds the same number holds the same value, whoever computed it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arch/registers.h"

namespace whocall {

// Counts from 1; 0: nothing is known.
using ValueId = std::uint32_t;

struct Value {
  enum class Kind : std::uint8_t {
    made,        // computed by the instruction at `at`, which left it in place `number`
    met,         // what paths that meet at `at` bring along in place `number`
    constant,    // `number`
    cfa,         // the CFA + `number`
    entry,       // register `number` on entry
    entry_word,  // the word of `size` bytes at CFA + `number`, on entry
    sum,         // `base` + `number`
    low,         // the lowest `size` bytes of `base`, the rest zeros
    extended,    // the lowest `size` bytes of `base`, the rest copies of their sign
    partial,     // the lowest `size` bytes of `base`, the rest of something else
    loaded,      // the `size` bytes in memory at `base` + `number` when the instruction at `at` ran
  };
  Kind kind = Kind::made;
  std::uint8_t size = 8;  // bytes
  ValueId base = 0;
  std::int64_t number = 0;
  std::uint64_t at = 0;  // offset in the function, bytes

  friend bool operator==(const Value&, const Value&) = default;
};

// As machines add: numbers wrap.
constexpr std::int64_t wrapped_sum(std::int64_t one, std::int64_t other) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) +
                                   static_cast<std::uint64_t>(other));
}
constexpr std::int64_t wrapped_product(std::int64_t one, std::int64_t other) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) *
                                   static_cast<std::uint64_t>(other));
}

// All the values of one function.
class ValueTable {
 public:
  explicit ValueTable(std::uint8_t word) : word_(word) {}

  [[nodiscard]] const Value& operator[](ValueId id) const { return values_[id - 1]; }
  [[nodiscard]] bool is(ValueId id, Value::Kind kind) const {
    return id != 0 && (*this)[id].kind == kind;
  }

  ValueId intern(const Value& value);
  // The same; `known`: whether it was there before.
  ValueId intern(const Value& value, bool& known);
  ValueId constant(std::int64_t number) {
    return intern({.kind = Value::Kind::constant, .size = word_, .number = number});
  }
  ValueId cfa(std::int64_t offset) {
    return intern({.kind = Value::Kind::cfa, .size = word_, .number = offset});
  }
  ValueId entry(Register number) {
    return intern({.kind = Value::Kind::entry, .size = word_, .number = number});
  }
  ValueId entry_word(std::int64_t offset) {
    return intern({.kind = Value::Kind::entry_word, .size = word_, .number = offset});
  }
  // id + offset
  ValueId sum(ValueId id, std::int64_t offset);
  // The lowest `size` bytes, widened.
  ValueId narrowed(ValueId id, std::uint8_t size, bool is_signed);

  // Only its lowest `size` bytes, of what is otherwise something else, which the instruction at
  // `at` made in place `number`.
  ValueId partial(ValueId id, std::uint8_t size, std::int64_t number, std::uint64_t at) {
    return intern({.kind = Value::Kind::partial,
                   .size = size,
                   .base = narrowed(id, size, false),
                   .number = number,
                   .at = at});
  }
  // Whether it is a part of another value, and nothing else of it is known.
  [[nodiscard]] bool is_part(ValueId id) const {
    return is(id, Value::Kind::low) || is(id, Value::Kind::extended) ||
           is(id, Value::Kind::partial);
  }

  [[nodiscard]] std::uint8_t word() const { return word_; }

 private:
  void grow();
  [[nodiscard]] std::size_t slot_of(const Value& value) const;

  std::uint8_t word_;
  std::vector<Value> values_;
  std::vector<ValueId> slots_;  // by a hash, or the next free one behind; 0: free
};

}  // namespace whocall
