// The calls of one function that may never come back, and how the flow itself convicts them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>

#include "base/address.h"
#include "unwind/analysis/function_code.h"
#include "unwind/analysis/function_reader.h"

namespace whocall {

// A call that a path passed just before the beginning of a block. Offsets count from the function's
// first byte.
struct Suspect {
  std::uint64_t behind = 0;         // offset behind the call; 0: none
  std::optional<Address> target{};  // of a direct call
};
using Suspects = std::array<Suspect, 4>;  // the last ones that a path passed, latest first

// Folklore. Situation: a call to a function that never returns (abort, exit, an own "fatal")
// stands in the middle of a function; behind it begins a block that belongs to another path.
// Example: gcc puts the error exit before a loop's head. Taking the call for one that comes back
// joins two stack depths and loses the stack pointer for the rest of the function. Remedy: where
// two depths meet, the calls that both paths last passed just before the beginning of a block are
// looked at: does the called function return? And a call directly before the place where they
// meet, when the other path came by a jump, does not.
class SuspectCalls {
 public:
  // Both must outlive the object. A block begins where the flow enters the function, too: cold
  // parts of many functions are often rows of calls to abort, with the next entry behind each.
  SuspectCalls(FunctionReader& reader, const FunctionCode& function)
      : reader_(reader), never_returns_(function.never_returns) {
    for (const FunctionExit& entry : function.entries) {
      entries_.insert(entry.target - function.address);
    }
  }

  [[nodiscard]] bool comes_back(std::optional<Address> target, std::uint64_t behind) const {
    return !no_return_calls_.contains(behind) && !(target && no_return_targets_.contains(*target));
  }
  // What a path that passed `before` has passed after one more call.
  Suspects after_call(Suspects before, std::optional<Address> target, std::uint64_t behind);
  // Two paths with different depths met at `offset`: true when one more call is convicted for it.
  bool mark_no_return(std::uint64_t offset, const Suspects& one, const Suspects& other);

 private:
  [[nodiscard]] bool adjoins(const Suspects& suspects, std::uint64_t offset);
  [[nodiscard]] bool never_returns(const std::optional<Address>& target) const {
    return target && never_returns_ && never_returns_(*target);
  }

  FunctionReader& reader_;
  const std::function<bool(Address)>& never_returns_;
  std::set<std::uint64_t> entries_;          // offsets
  std::set<std::uint64_t> no_return_calls_;  // offsets behind calls that do not come back
  std::set<Address> no_return_targets_;  // functions that, as one such call showed, never return
};

}  // namespace whocall
