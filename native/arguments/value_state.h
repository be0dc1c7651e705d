// Which values registers and words of the stack hold at one instruction.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <set>

#include "arch/instruction.h"
#include "arch/value_flow.h"
#include "arguments/value_table.h"

namespace whocall {

using WrittenRegisters = std::bitset<kFollowedLimit>;

// A stretch of the stack whose content is one value.
struct HeldWord {
  std::uint8_t size = 0;  // bytes
  ValueId value = 0;
  friend bool operator==(const HeldWord&, const HeldWord&) = default;
};

class ValueState {
 public:
  // Nothing known but that each register and word has some value of its own at the offset `at`.
  ValueState(const Architecture& arch, ValueTable& table, std::uint64_t at);
  // As a call enters a function: every register and the words of arguments as on entry.
  static ValueState on_entry(const Architecture& arch, ValueTable& table);

  [[nodiscard]] ValueId get(Register number) const {
    return number < kFollowedLimit ? registers_[number] : 0;
  }
  // By offset from the CFA, bytes.
  [[nodiscard]] const std::map<std::int64_t, HeldWord>& words() const { return words_; }
  // What the word there holds; 0 where that is not known.
  [[nodiscard]] ValueId word_at(std::int64_t offset, std::uint8_t size) const;

  void set(Register number, ValueId value) {
    if (number < kFollowedLimit) {
      registers_[number] = value;
    }
  }

  // Of an instruction at the offset `at` of the function. `exposed`: offsets from the CFA of which
  // pointers were handed away, which an unknown store may go to.
  void apply(const ValueFlow& flow, ValueTable& table, std::uint64_t at,
             std::set<std::int64_t>& exposed);
  // What a call at `at` leaves that comes back; `written`: the registers that it may write.
  void after_call(const Architecture& arch, ValueTable& table, std::uint64_t at,
                  const WrittenRegisters& written, std::set<std::int64_t>& exposed);
  // Keeps what both agree on; what differs has a new number from `at` on, where they meet. True
  // when something was lost.
  //
  // Places that held one value on each path hold one value still: they go by the pair of values.
  bool merge(const ValueState& other, ValueTable& table, std::uint64_t at);

  // What an instruction at `at` would leave.
  ValueId value_of(const ValueWrite& write, ValueTable& table, std::uint64_t at);

 private:
  ValueId address_of(const ValueAddress& place, ValueTable& table) const;
  ValueId load(const ValueWrite& write, ValueTable& table, std::uint64_t at);
  void store(ValueId where, std::uint8_t size, ValueId what, const ValueTable& table,
             std::set<std::int64_t>& exposed);
  void drop_words(std::int64_t begin, std::int64_t end);
  void drop_exposed(const std::set<std::int64_t>& exposed);
  void drop_stale(ValueId made, ValueTable& table, std::uint64_t at);

  std::array<ValueId, kFollowedLimit> registers_{};
  std::map<std::int64_t, HeldWord> words_;
};

// Whether a pointer to the word at `offset` may have been handed away: to it, or to what lies below
// it, as to the beginning of an array.
bool is_exposed(const std::set<std::int64_t>& exposed, std::int64_t offset);

}  // namespace whocall
