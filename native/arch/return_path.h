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
  // Just before the return; where no register holds the return address, it is on top of the stack.
  PathValue sp;
  std::optional<PathValue> fp;         // the caller's frame pointer; a miss when it is not known
  std::optional<PathValue> link;       // the return address, where a register holds it
  std::optional<PathValue> goroutine;  // what the caller has in Go's register for it, likewise
  // Where the stack pointer comes out of a word in memory: what the code puts into that word before
  // it returns, as steps that begin with the stack pointer it found there. Empty: nothing.
  PathValue outer;
  friend bool operator==(const ReturnPath&, const ReturnPath&) = default;
};

// How many steps of a value lead up to its last load, and through it; 0 where it has none. The load
// is that of a saved stack pointer, where the value is one.
std::size_t end_of_last_load(const PathValue& value);

}  // namespace whocall
