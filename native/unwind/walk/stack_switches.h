// The steps of one walk that do not go up the stack: which of them are taken.
#pragma once

#include <utility>
#include <vector>

#include "unwind/judge/sentences.h"

namespace whocall {

// Only such steps can lead in a circle, so these alone are remembered.
//
// Folklore. Situation: signal frames or the rules of a runtime lead from one stack to another and
// back. Example: a damaged Go program, whose two stacks name each other. Remedy: who arrives for
// the second time at one pc with one stack pointer would do so for ever.
class StackSwitches {
 public:
  static constexpr unsigned kLimit = 1024;

  // Of an attempt that nothing else speaks against; remembers it where it is taken.
  Refusal check(const Activation& callee, const Attempt& attempt, const WalkContext& context);

 private:
  std::vector<std::pair<Address, Address>> arrivals_;  // pc and sp behind steps that were taken
};

}  // namespace whocall
