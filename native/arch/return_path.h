// How code at some place goes back to its caller: what it does to the stack pointer until it
// returns, as a computation over the registers that it has now.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/architecture.h"
#include "base/byte_view.h"

namespace whocall {

// One step of a computation on a stack of values.
struct PathStep {
  enum class Kind : std::uint8_t {
    base,      // push a register + value
    constant,  // push value
    deref,     // replace an address by the word there
    plus,      // add value
    minus,     // take the upper of two from the lower
  };
  Kind kind = Kind::constant;
  Register source = 0;
  std::int64_t value = 0;
  friend bool operator==(const PathStep&, const PathStep&) = default;
};
using PathValue = std::vector<PathStep>;

struct ReturnPath {
  PathValue sp;  // just before the return, where the return address is on top of the stack
  std::optional<PathValue> fp;  // the caller's frame pointer; a miss when it is not known
  friend bool operator==(const ReturnPath&, const ReturnPath&) = default;
};

}  // namespace whocall
