// The code of a function that is to be followed, and how the flow enters and leaves it.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "arch/instruction.h"
#include "base/byte_view.h"
#include "object/lsda.h"
#include "unwind/analysis/abstract_state.h"

namespace whocall {

// A way out of the function that is no return: to its cold part, or a tail call.
struct FunctionExit {
  Address target = 0;
  AbstractState state;
  bool guessed = false;  // the way to it begins in code that no path reaches
};

struct FunctionCode {
  ByteView code;
  Address address = 0;  // of the first byte of `code`
  // Where the flow enters, and how; empty: at `address`, as a call does.
  std::vector<FunctionExit> entries{};
  // Where execution goes on when a call of the function throws; sorted by the calls.
  std::vector<LandingPad> landing_pads{};
  // Bytes from the start that a table or a symbol delimits, so that no function of its own hides in
  // them; 0 where the bounds are guessed.
  std::uint64_t delimited = 0;
  // Whether a call to this address never comes back; may be empty.
  std::function<bool(Address)> never_returns{};
  // Which registers a call to this address writes at the most; may be empty or not know.
  std::function<std::optional<std::bitset<kRegisterLimit>>(Address)> written_by{};
  // How many bytes of arguments a call to this address drops; may be empty or not know.
  std::function<std::optional<std::int64_t>(Address)> popped_by{};
};

}  // namespace whocall
