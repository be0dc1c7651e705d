// The indirect jumps of one function, whose targets are code that no path is seen to lead to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "arch/architecture.h"
#include "unwind/abstract_state.h"

namespace whocall {

// Data that is read as code can have 100,000 of them, and what is asked here is asked for each
// piece of unreached code: so depths are counted instead of compared.
class SwitchJumps {
 public:
  explicit SwitchJumps(const Architecture& arch) : arch_(arch) {}

  void clear();
  // `behind` is the offset behind the jump; `state` takes the place of what was known of it before.
  void set(std::uint64_t behind, AbstractState state);

  [[nodiscard]] bool empty() const { return states_.empty(); }
  // The state of the first jump; there must be one.
  [[nodiscard]] const AbstractState& first() const { return states_.begin()->second; }
  // Whether there are some, and none disagrees with the first.
  [[nodiscard]] bool agree() const;
  // Whether one of them does not disagree with `state`.
  [[nodiscard]] bool any_like(const AbstractState& state) const;

 private:
  // How many do (see AbstractState::disagrees).
  [[nodiscard]] std::size_t disagreeing(const AbstractState& state) const;

  const Architecture& arch_;
  std::map<std::uint64_t, AbstractState> states_;
  // By the kind of the stack pointer's value, and by its offset.
  std::map<AbstractValue::Kind, std::map<std::int32_t, std::size_t>> depths_;
  std::map<AbstractValue::Kind, std::size_t> kinds_;
};

}  // namespace whocall
