// What is known of values behind instructions that were followed one after the other.
#pragma once

#include <cstdint>

#include "arguments/value_state.h"

namespace whocall::test {

class FollowedCode {
 public:
  // `size` of a register, bytes.
  FollowedCode(const Architecture& arch, std::uint8_t size)
      : table(size), state(ValueState::on_entry(arch, table)) {}

  [[nodiscard]] ValueId entry(Register number) { return table.entry(number); }
  [[nodiscard]] ValueId get(Register number) const { return state.get(number); }
  [[nodiscard]] bool holds(Register number, std::uint64_t constant) const {
    return table.is(get(number), Value::Kind::constant) &&
           static_cast<std::uint64_t>(table[get(number)].number) == constant;
  }
  [[nodiscard]] bool is_new(Register number) const {
    return table.is(get(number), Value::Kind::made);
  }

  ValueTable table;
  ValueState state;
  ExposedWords exposed;
};

}  // namespace whocall::test
