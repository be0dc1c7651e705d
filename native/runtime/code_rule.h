// The rule that the instructions of a function give where no table does: they are followed from the
// function's first one to the place, on all ways that lead there, and how far the stack pointer has
// moved is counted.
//
// What compilers write behind a call that does not return belongs to no way that leads through it:
// a jump's target says what holds there. Where nobody tells targets (a jump by a table, or a tail
// call by a register), what falls through from a call is believed only if it agrees with that jump.
// A way that returns with something left in the frame, and two that meet with different frames, say
// that one was none: then there is no rule.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/code_step.h"
#include "rules/frame_rule.h"

namespace whocall::runtime {

// Says how many bytes of code can be read from an address on: `wanted` at most.
using ReadableCode = std::size_t (*)(void* reader, std::uintptr_t address, std::size_t wanted);

struct CodeAround {
  std::uintptr_t begin = 0;  // of the function, where its frame is empty; a runtime address
  std::uintptr_t end = 0;    // of the function; 0: not known, and then nothing is guessed
  std::uintptr_t place = 0;  // runtime address
  bool exact = false;        // the place's instruction is yet to run; else the call before it runs
  bool has_link = false;     // calls leave the return address in a register
  std::int32_t word = 0;     // of the machine, bytes
  StepReader step = nullptr;
  ReadableCode readable = nullptr;
  void* reader = nullptr;
};

// `cfa` is none where the place is not reached, where ways that lead there contradict each other,
// and where neither the stack pointer nor the frame pointer can be followed.
rules::FrameRule rule_by_code(const CodeAround& around);

}  // namespace whocall::runtime
