// The walk from a frame to its callers.
#pragma once

#include <cstddef>

#include "rules/frame_rule.h"
#include "runtime/machine.h"
#include "runtime/readable.h"
#include "runtime/whocall.h"

namespace whocall::runtime {

// Why a walk goes no further.
enum class WalkEnd : std::uint8_t {
  none = 0,
  outermost = 1,   // the unwind table says so, or the return address is 0
  no_rule = 2,     // no table, and the frame pointer leads nowhere
  unreadable = 3,  // the stack, or it would not shrink
  too_many = 4     // frames
};

// A walk that makes sure of every word, and says how each frame was found.
class CarefulWalk {
 public:
  // `exact`: the point is one that a signal interrupted, and not one that a call returns to. Then
  // files are looked for by all means, as the program may have crashed while one was loaded.
  CarefulWalk(const Point& from, bool exact) : at_(from), exact_(exact), thorough_(exact) {}

  [[nodiscard]] std::uintptr_t address() const { return at_.pc; }
  // Of the code that the frame is in: a return address may lie behind its function.
  [[nodiscard]] std::uintptr_t lookup_address() const { return at_.pc - (exact() ? 0 : 1); }
  // Whether the code is at the address, and not before it: an interrupted instruction, or the first
  // of a signal's trampoline, which nobody called.
  [[nodiscard]] bool exact() const;
  [[nodiscard]] bool thorough() const { return thorough_; }
  [[nodiscard]] whocall_trust trust() const { return trust_; }
  // Where the registers of the frame, or of one further in, were saved for a signal's handler;
  // null: the walk came by none.
  [[nodiscard]] const void* context() const { return context_; }
  // To the caller; false at the end of the stack, and where nothing leads on.
  bool next();
  [[nodiscard]] WalkEnd end() const { return end_; }

 private:
  bool read(std::uintptr_t address, std::uintptr_t& value) { return reader_.read(address, value); }
  bool stop(WalkEnd reason) {
    end_ = reason;
    return false;
  }
  [[nodiscard]] bool is_code(std::uintptr_t address) const;
  [[nodiscard]] bool is_signal_frame(std::uintptr_t address) const;
  [[nodiscard]] static bool is_trampoline(std::uintptr_t address);
  bool is_made_code(std::uintptr_t address);
  bool may_be_caller(std::uintptr_t pc, std::uintptr_t return_address);
  bool accept(const Point& caller, whocall_trust trust);
  bool by_rule(const rules::FrameRule& rule);
  bool by_code(const rules::FrameRule& rule);
  bool by_context();
  bool by_call();
  bool by_chain();

  Point at_;
  bool exact_;
  bool thorough_;
  bool guessed_ = false;  // a frame pointer led to a frame further in
  whocall_trust trust_ = WHOCALL_CONTEXT;
  WalkEnd end_ = WalkEnd::none;
  const void* context_ = nullptr;
  std::uintptr_t made_begin_ = 0;  // code of no file that was found last
  std::uintptr_t made_end_ = 0;
  CheckedReader reader_;
};

}  // namespace whocall::runtime
