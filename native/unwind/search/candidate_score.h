// How much speaks for a word of the stack that may be a return address.
#pragma once

#include "unwind/judge/judge.h"

namespace whocall {

// Small whole numbers, added up; only their order matters: that the call goes to the callee
// outweighs all that follows from a candidate.
inline constexpr int kLookAhead = 6;  // steps by exact rules
inline constexpr int kStep = 1;       // for each
inline constexpr int kMatchingStep =
    2;  // the call goes to the very function that the step came from
inline constexpr int kNotElsewhere = 4;
inline constexpr int kTrampoline = 8;  // a handler returns to the kernel's code: nothing calls that
inline constexpr int kTailCall = 8;
inline constexpr int kSameModule = 12;
inline constexpr int kSameDistance = 12;
inline constexpr int kMatches = 16;
inline constexpr int kFits = 16;  // the lost frame between fits exactly
inline constexpr int kBest = kNotElsewhere + kMatches + kLookAhead * kMatchingStep;

// Folklore. Situation: a rule is known, but the return address that it leads to was overwritten,
// and callers' frames with it. Example: a long string copied into a short buffer. Remedy: the
// next frame that is whole called a function whose frame is gone, so a call to another function
// does not speak against it.
constexpr int score_of_call(CallMatch match, bool damaged) {
  switch (match) {
    case CallMatch::matches:
      return kNotElsewhere + kMatches;
    case CallMatch::tail_call:
      return kNotElsewhere + kTailCall;
    case CallMatch::same_module:
      return kNotElsewhere + kSameModule;
    case CallMatch::unknown:
      return kNotElsewhere;
    case CallMatch::elsewhere:
      return damaged ? kNotElsewhere : 0;
    case CallMatch::no_call:
    case CallMatch::unreadable:
      break;
  }
  return 0;
}

}  // namespace whocall
