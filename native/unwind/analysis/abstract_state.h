// What is known, at one instruction, of where a function's caller left its registers: the values
// that the analysis follows, and the unwinding rule that they amount to.
#pragma once

#include <bit>
#include <bitset>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "arch/followed_values.h"
#include "arch/instruction.h"
#include "unwind/analysis/abstract_value.h"
#include "unwind/rows/row.h"

namespace whocall {

class AbstractState {
 public:
  using Slot = StackWord;

  // At a function's first instruction: the return address was just pushed (or lies in the link
  // register), and every register has its value on entry.
  explicit AbstractState(const Architecture& arch);

  void apply(const Effect& effect);
  // What a call that came back leaves: registers that calls do not preserve are lost.
  void after_call();
  // The same for a call of which is known what it writes at the most.
  void after_call(const std::bitset<kRegisterLimit>& written);
  // On the way behind a branch that is taken when the two last compared registers differ. False
  // when they do differ, so that nothing goes this way.
  bool compared_equal();

  // Keeps what both agree on. True when something was lost.
  bool merge(const AbstractState& other);
  [[nodiscard]] AbstractValue get(Register number) const { return registers_.get(number); }
  // Whether both know the same of registers and stack words.
  [[nodiscard]] bool is_same(const AbstractState& other) const {
    return registers_ == other.registers_ && slots_ == other.slots_;
  }

  // Whether the stack pointer's or the frame pointer's distance from the CFA is known.
  [[nodiscard]] bool knows_frame() const;
  // Whether the CFA is known by nothing but registers that calls do not preserve.
  [[nodiscard]] bool leans_on_scratch() const;
  // Whether the two tell the stack pointer differently although both know it.
  [[nodiscard]] bool disagrees(const AbstractState& other) const;
  // Whether a register that callees keep is still as the caller left it in one of the two, and in
  // the other only a copy of it is, which the first has not made.
  [[nodiscard]] bool saves_otherwise(const AbstractState& other) const;

  [[nodiscard]] const std::vector<Slot>& slots() const { return slots_.list(); }

  // What is known of the place that a rule is for.
  struct Place {
    bool guessed = false;   // how deep the stack pointer is there is a guess
    bool doubtful = false;  // and several depths are known, each of which it may have
    bool at_call = false;   // a call stands there, which may change scratch registers
  };
  // The rule at this point; empty when the CFA or the place of the return address is not known.
  // Expressions are kept in `arena`. Where the stack pointer's depth is a guess, a frame pointer as
  // the conventional prologue leaves it comes first.
  [[nodiscard]] std::optional<UnwindRow> row(std::deque<std::vector<std::byte>>& arena,
                                             Place place) const;

 private:
  void set(Register number, const AbstractValue& value);
  void move_sp_to_unknown();
  void count_from_sp();
  [[nodiscard]] AbstractValue plus(Register base, std::int64_t offset) const;
  [[nodiscard]] AbstractValue sum(const Effect& effect, int sign) const;
  [[nodiscard]] AbstractValue place(Register base, const Effect& effect) const;
  void store(const AbstractValue& where, const AbstractValue& what);
  [[nodiscard]] AbstractValue load(const AbstractValue& where) const;
  void drop_slots_below_sp(bool all);
  [[nodiscard]] bool keeps_apart(Register number, const AbstractState& other) const;

  [[nodiscard]] bool is_link(const FrameChain& chain) const;
  [[nodiscard]] std::optional<CfaRule> cfa_rule(std::deque<std::vector<std::byte>>& arena,
                                                Place place) const;
  [[nodiscard]] std::optional<RegisterRule> saved_rule(
      Register number, std::deque<std::vector<std::byte>>& arena) const;
  [[nodiscard]] std::optional<std::pair<Register, std::int64_t>> aligned_base() const;
  [[nodiscard]] std::optional<RegisterRule> return_address_in_scratch() const;
  [[nodiscard]] bool gave_up_return_address() const;

  const Architecture* arch_;
  FollowedValues<AbstractValue> registers_;
  StackWords slots_;
  std::optional<std::pair<Register, Register>> compared_;
  bool moved_away_ = false;  // the return address was stored where nothing is followed
};

}  // namespace whocall
