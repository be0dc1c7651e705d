// The calls of one function whose callee drops an argument, as the flow of the function itself
// shows.
#pragma once

#include <cstdint>

#include <optional>
#include <set>

#include "unwind/analysis/abstract_state.h"

namespace whocall {

// The last calls on a path of which nobody knows how their callee returns. Offsets behind the
// calls, from the function's first byte; 0: none.
struct UnknownCalls {
  std::uint64_t last = 0;
  std::uint64_t last_aligned = 0;  // made with the stack aligned as the psABI asks
};

// Folklore. Situation: a call drops its hidden argument, and which function it calls is not known.
// Example: i386 code calls a virtual function that returns a structure: call *16(%edx); its callee
// ends in `ret $4`. Remedy: where a path returns with the stack pointer a word too low, or meets
// another that is a word less deep, such a call stands on it: the last that was made with the stack
// aligned, as every later one looks misaligned by the word that was missed.
class PoppingCalls {
 public:
  explicit PoppingCalls(const Architecture& arch);

  // How many bytes the call in front of `behind` was found to drop: a word, or none.
  [[nodiscard]] std::int64_t popped(std::uint64_t behind) const;
  // What a path that passed `before` has passed after one more call, made in `state`.
  [[nodiscard]] UnknownCalls after_call(UnknownCalls before, const AbstractState& state,
                                        std::uint64_t behind) const;
  // A path returns in `state`: true when one more call was found.
  bool find_at_return(const AbstractState& state, const UnknownCalls& passed);
  // Two paths meet: true when one more call was found.
  bool find_where_they_meet(const AbstractState& one, const UnknownCalls& passed_by_one,
                            const AbstractState& other, const UnknownCalls& passed_by_other);

 private:
  // How far the stack pointer is from the CFA; a miss when that is not known.
  [[nodiscard]] std::optional<std::int64_t> depth(const AbstractState& state) const;
  bool find(const UnknownCalls& passed);

  const Architecture& arch_;
  bool callers_push_;               // arguments; where registers hold them, callers drop the rest
  std::set<std::uint64_t> popped_;  // offsets behind the calls
};

}  // namespace whocall
