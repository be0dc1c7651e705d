// The walk from a frame to its callers.
#pragma once

#include <cstddef>

#include "rules/frame_rule.h"
#include "runtime/whocall.h"

namespace whocall::runtime {

// A walk that reads the stack as it is: of a thread that runs. Fills in return addresses.
std::size_t capture(rules::FramePoint from, void** addresses, std::size_t count);

// A walk that makes sure of every word, and says how each frame was found.
class CarefulWalk {
 public:
  // `exact`: the point is one that a signal interrupted, and not one that a call returns to.
  CarefulWalk(rules::FramePoint from, bool exact) : at_(from), exact_(exact) {}

  [[nodiscard]] std::uintptr_t address() const { return at_.pc; }
  // Of the code that the frame is in: a return address may lie behind its function.
  [[nodiscard]] std::uintptr_t lookup_address() const { return at_.pc - (exact_ ? 0 : 1); }
  [[nodiscard]] whocall_trust trust() const { return trust_; }
  // To the caller; false at the end of the stack, and where nothing leads on.
  bool next();

 private:
  bool read(std::uintptr_t address, std::uintptr_t& value);
  bool is_trampoline(std::uintptr_t address);
  bool by_context();
  bool by_call();
  bool by_chain();

  rules::FramePoint at_;
  bool exact_;
  whocall_trust trust_ = WHOCALL_CONTEXT;
  std::uintptr_t readable_begin_ = 1;  // of the page that was found to be readable last; none is 1
};

// Forgets the rules that were found.
void forget_rules();

}  // namespace whocall::runtime
