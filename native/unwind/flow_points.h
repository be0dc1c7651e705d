// What the flow through one function knows at the instructions that it reached.
#pragma once

#include <cstdint>
#include <map>

#include "arch/architecture.h"
#include "unwind/abstract_state.h"
#include "unwind/suspect_calls.h"

namespace whocall {

struct FlowPoint {
  AbstractState state;
  std::uint8_t size = 0;
  bool is_call = false;
  bool guessed = false;  // only guesses lead there
  Suspects suspects{};
};
using FlowPoints = std::map<std::uint64_t, FlowPoint>;  // by offset in the function, bytes

// The state behind a call at a point whose stack pointer is the one that most calls have, or else
// most points: how deep code runs that no path leads to.
AbstractState usual_state(const FlowPoints& points, const Architecture& arch);

}  // namespace whocall
