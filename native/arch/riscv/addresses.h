// Addresses that RISC-V code puts together in two instructions: auipc or lui for the upper part,
// and another for the lower 12 bits.
#pragma once

#include <array>
#include <optional>

#include "arch/instruction.h"
#include "arch/riscv/frame_facts.h"

namespace whocall::riscv {

// What registers hold of such addresses, as far as the code goes on straight.
class Addresses {
 public:
  // `fixed`: the code runs where it was linked, so that lui may begin an address.
  // `pointer`: what gp holds, where it is known.
  explicit Addresses(bool fixed, std::optional<Address> pointer = {}) : fixed_(fixed) {
    if (pointer) {
      values_[kGp] = Value{.address = *pointer, .is_whole = true};
    }
  }

  struct Value {
    Address address = 0;
    bool is_slot = false;   // the word at `address` is the value
    bool is_whole = false;  // both parts are there
  };
  // What an instruction names: an address that it puts into `destination`, or one that it reads or
  // writes.
  struct Named {
    Address address = 0;
    std::optional<Register> destination{};
  };

  // Runs the instruction with which `code` begins, at `here`.
  std::optional<Named> take(ByteView code, Address here);
  // What else the instruction does to registers.
  void forget(const Instruction& instruction);

  [[nodiscard]] const std::optional<Value>& at(Register number) const { return values_.at(number); }

 private:
  std::optional<Named> take_word(std::uint32_t word, Address here);
  std::optional<Named> take_compressed(std::uint32_t parcel);
  std::optional<Named> count_on(Register to, Register from, std::int64_t amount);
  std::optional<Named> load(Register to, Register from, std::int64_t amount, bool whole_word);
  void put(Register to, std::optional<Value> value);

  bool fixed_;
  std::array<std::optional<Value>, kNames.size()> values_{};
  std::optional<Register> put_{};  // by the last instruction
};

}  // namespace whocall::riscv
