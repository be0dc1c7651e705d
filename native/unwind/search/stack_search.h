// The search of a stack for the caller: what the scan goes by, and what a frame pointer's link is
// measured against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "unwind/strategy.h"

namespace whocall {

// A word on the stack that may be the return address.
struct StackCandidate {
  UnwindRow row;
  int score = 0;              // only the order matters
  bool sure = false;          // exact rules lead on from it, and nothing speaks against it
  bool unseen = false;        // the code that it leads to is not at hand, so nothing can be tested
  bool survived = false;      // several exact steps lead from it to an overwritten word
  bool into_module = false;   // its call goes into the callee's module, of which nothing is known
  bool contradicted = false;  // its call is known to go to another function than the callee's
};

// The best candidate above the stack pointer of `callee`, below `end` (a runtime address, or
// nothing); the nearest of several.
std::optional<StackCandidate> search_stack(const Activation& callee, std::optional<Address> end,
                                           const WalkContext& context);

}  // namespace whocall
