// The backtrace of one thread as far as it is shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "arguments/code_values.h"
#include "process/process_image.h"
#include "report/form/named_walk.h"

namespace whocall {

// What is told of the thread itself.
struct ThreadHead {
  std::int64_t number = 0;
  bool crashed = false;
  std::string signal{};  // "SIGSEGV"; empty without one
};

struct ThreadTrace {
  const Thread* thread = nullptr;
  const NamedWalk* walk = nullptr;
  FrameRange shown{};
  Stop stop{};  // of what is shown
  ThreadHead head{};
  const ProcessImage* process = nullptr;  // null: what happened to it is not told
  CodeValues* values = nullptr;           // null: nor where values came from

  [[nodiscard]] FrameFacts frame(std::size_t number) const { return {*walk, shown.at(number)}; }
};

struct ShownPart {
  bool past_main = false;               // what called the program's main, too
  std::optional<std::int64_t> count{};  // the innermost so many frames, or the outermost -count
};

ThreadTrace shown_trace(const Thread& thread, const NamedWalk& walk, const ShownPart& part);

}  // namespace whocall
