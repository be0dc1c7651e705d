// Which values registers and words of the stack hold at one instruction.
#pragma once

#include <bitset>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "arch/architecture.h"
#include "arch/followed_values.h"
#include "arch/value_flow.h"
#include "arguments/value_table.h"

namespace whocall {

using WrittenRegisters = std::bitset<kRegisterLimit>;

struct CallResult {
  WrittenRegisters written{};            // that the call may write
  std::span<const Register> returned{};  // of these, with what it returns
};

// A stretch of the stack whose content is one value.
struct HeldWord {
  std::int64_t offset = 0;  // from the CFA, bytes
  std::uint8_t size = 0;    // bytes
  ValueId value = 0;
  // It had that value; since then a store that is not followed may have gone there.
  bool unsure = false;
};

// Offsets from the CFA of which pointers were handed away, so that stores which are not followed
// may go there: to what lies there, or above it, as to an array that begins there.
using ExposedWords = std::set<std::int64_t>;

[[nodiscard]] bool is_exposed(const ExposedWords& exposed, std::int64_t offset);

class ValueState {
 public:
  // Nothing known.
  explicit ValueState(const Architecture& arch);
  // As a call enters a function: every register and the words of arguments as on entry.
  static ValueState on_entry(const Architecture& arch, ValueTable& table);

  [[nodiscard]] ValueId get(Register number) const { return registers_.get(number); }
  [[nodiscard]] const FollowedValues<ValueId>& registers() const { return registers_; }
  // Ascending, apart from one another.
  [[nodiscard]] const std::vector<HeldWord>& words() const { return words_; }
  // The word that begins at `offset`; null where none does.
  [[nodiscard]] const HeldWord* word_at(std::int64_t offset) const;

  void set(Register number, ValueId value) { registers_.set(number, value); }

  // Of an instruction at the offset `at` of the function.
  void apply(const ValueFlow& flow, ValueTable& table, std::uint64_t at, ExposedWords& exposed);
  // What a call at `at` leaves that comes back: registers that it may write hold what it returned,
  // or nothing that is known.
  void after_call(const Architecture& arch, ValueTable& table, std::uint64_t at,
                  const CallResult& result, ExposedWords& exposed);
  // Keeps what both agree on; what differs has a new number from `at` on, where they meet. True
  // when something was lost.
  //
  // Places that held one value on each path hold one value still: they go by the pair of values.
  // An address of the stack that is one of several from then on is handed away.
  bool merge(const ValueState& other, ValueTable& table, std::uint64_t at, ExposedWords& exposed);
  // What an instruction at `at` would leave.
  ValueId value_of(const ValueWrite& write, ValueTable& table, std::uint64_t at);

 private:
  ValueId address_of(const ValueAddress& place, ValueTable& table) const;
  ValueId put_in(const ValueWrite& write, ValueTable& table) const;
  ValueId load(const ValueWrite& write, ValueTable& table, std::uint64_t at);
  void store(ValueId where, std::uint8_t size, ValueId what, const ValueTable& table,
             ExposedWords& exposed);
  void put_word(const HeldWord& word);
  void drop_words(std::int64_t begin, std::int64_t end);
  void expose_mixed(const ValueFlow& flow, const ValueTable& table, ExposedWords& exposed) const;
  void doubt_exposed(const ExposedWords& exposed);
  ValueId make(const Value& value, ValueTable& table);
  bool keep_common_words(const ValueState& other);
  [[nodiscard]] ValueId value_in(std::int64_t place) const;

  Register sp_ = 0;
  Register fp_ = 0;
  FollowedValues<ValueId> registers_;
  std::vector<HeldWord> words_;
};

}  // namespace whocall
