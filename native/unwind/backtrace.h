// What a walk yields: frames, how sure each is, and why it stopped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"
#include "unwind/rows/activation.h"

namespace whocall {

// How a frame's registers were found, best first.
enum class Trust : std::uint8_t {
  context,        // given: the thread's own registers, or those the kernel saved for a signal
  cfi,            // by the module's unwind tables
  analysis,       // by what the code itself does
  frame_pointer,  // by the frame pointer's chain
  scan            // by searching the stack
};
std::string_view to_string(Trust trust);  // "context", "cfi", "analysis", "frame-pointer", "scan"

// What speaks for a frame; a set of them is kept on it.
enum class Evidence : std::uint8_t {
  call_before,     // a call instruction stands before the return address
  call_target,     // that call goes to the function that we came from
  cfa_up,          // the stack pointer moves towards the stack's base
  frame_pointer,   // the frame-pointer register names the same return address
  caller_goes_on,  // the rules of the caller lead to an acceptable caller in turn
  signal,          // the kernel interrupted it there
  // What speaks against one:
  return_replaced,  // nobody called it: its address replaced the return address of the frame below
  call_elsewhere,   // the call before it goes to another function, as far as can be told
  damaged_return,   // what the stack holds of its address was overwritten in part: it is concluded
};
std::string_view to_string(Evidence evidence);  // "call-before", "call-target", ...

class EvidenceSet {
 public:
  constexpr void add(Evidence evidence) {
    bits_ = static_cast<std::uint16_t>(bits_ | bit(evidence));
  }
  [[nodiscard]] constexpr EvidenceSet with(Evidence evidence) const {
    EvidenceSet more = *this;
    more.add(evidence);
    return more;
  }
  [[nodiscard]] bool has(Evidence evidence) const { return (bits_ & bit(evidence)) != 0; }
  [[nodiscard]] std::vector<Evidence> list() const;
  friend bool operator==(const EvidenceSet&, const EvidenceSet&) = default;

 private:
  static constexpr std::uint16_t bit(Evidence evidence) {
    return static_cast<std::uint16_t>(1U << static_cast<unsigned>(evidence));
  }
  std::uint16_t bits_ = 0;
};

// Plain data of 32 bytes: a stack that overflowed has a quarter of a million of them.
struct Frame {
  Address pc = 0;   // runtime address
  Address sp = 0;   // the stack pointer in this frame
  Address cfa = 0;  // 0 when the walk could not compute it (usually the last frame)
  Trust trust = Trust::context;
  EvidenceSet evidence{};
  bool interrupted = false;        // pc is the next instruction, not a return address
  bool signal_trampoline = false;  // gdb's <signal handler called>

  // Where to look up names and lines.
  [[nodiscard]] Address lookup_pc() const { return lookup_address(pc, interrupted); }
};

// What only those see of a frame who asked for it.
struct FrameDetails {
  std::string explanation;  // one sentence, when WalkOptions::explain asked for it
  std::shared_ptr<const Registers> registers;  // null unless WalkOptions::registers asked for them
  std::vector<SavedWord> saved;                // where the caller's lie, if it asked
};

enum class StopReason : std::uint8_t {
  end_of_stack,  // the outermost frame was reached
  no_caller,     // no strategy finds an acceptable caller
  unreadable,    // the stack's memory is not there
  frame_limit,   // as many frames as a walk may have
  // Of what is shown of a walk:
  main,   // the rest is the C library's start-up code, left out as gdb does
  count,  // the user asked for so many frames
};
std::string_view to_string(StopReason reason);  // "end-of-stack", "no-caller", ...

struct Stop {
  StopReason reason = StopReason::no_caller;
  std::string detail;  // a phrase: the outermost function, or what each strategy met
};

struct Backtrace {
  std::vector<Frame> frames;          // innermost first
  std::vector<FrameDetails> details;  // one for each frame, or none where nobody asked for them
  Stop stop;
};

}  // namespace whocall
