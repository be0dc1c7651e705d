// Addresses that LoongArch code puts together: a page, or a distance from the pc, and the place in
// it, or a number of up to four parts that is added to a page ("extreme" code).
#pragma once

#include <array>
#include <optional>

#include "arch/instruction.h"
#include "arch/loongarch/fields.h"
#include "arch/loongarch/frame_facts.h"

namespace whocall::loongarch {

// What registers hold of such addresses, as far as the code goes on straight.
class Addresses {
 public:
  // `fixed`: the code runs where it was linked, so that a number may be an address.
  explicit Addresses(bool fixed, std::optional<Address> /*pointer*/ = {}) : fixed_(fixed) {}

  struct Value {
    enum class Kind : std::uint8_t {
      number,   // an address only where code is fixed
      page,     // the upper part of an address
      address,  // all of one
      slot,     // the word at that address
    };
    Address value = 0;
    Kind kind = Kind::number;
  };
  // What an instruction names: an address that it puts into `destination`, or one that it reads or
  // writes.
  struct Named {
    Address address = 0;
    std::optional<Register> destination{};
  };

  // Runs the instruction `word`, at `here`.
  std::optional<Named> take(std::uint32_t word, Address here);
  // The same with which `code` begins.
  std::optional<Named> take(ByteView code, Address here) {
    return take(word_at(code, 0).value_or(0), here);
  }
  // What else the instruction does to registers.
  void forget(const Instruction& instruction);

  [[nodiscard]] std::optional<Value> at(Register number) const {
    return number == kZero ? std::optional(Value{}) : values_.at(number);
  }

 private:
  void put(Register to, std::optional<Value> value);
  std::optional<Named> name(Register to, Value value);
  // True for an instruction that makes a part of a number in `to`.
  bool take_number(std::uint32_t word);
  std::optional<Named> sum(Register to, std::optional<Value> left, std::optional<Value> right);
  std::optional<Named> access(std::uint32_t word, std::int64_t offset, bool loads_word);

  bool fixed_;
  std::array<std::optional<Value>, kNames.size()> values_{};
  std::optional<Register> put_{};  // by the last instruction
};

}  // namespace whocall::loongarch
