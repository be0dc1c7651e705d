// The steps of several threads in the order of their times, as far as they are shown.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tracing/call_filter.h"
#include "tracing/trace.h"

namespace whocall {

struct ShownStep {
  CallStep step;
  std::uint32_t depth = 0;  // among what is shown
  bool inlined = false;     // into the frame of the call around it
  Address around = 0;       // the function of that call
};

// One thread's, with a look at what comes next.
class ShownSteps {
 public:
  ShownSteps(const Trace& trace, std::size_t thread, const CallChoice& choice);
  // Null at the end.
  [[nodiscard]] const ShownStep* front() const { return has_front_ ? &front_ : nullptr; }
  // What follows `front`; null at the end.
  [[nodiscard]] const ShownStep* second() const { return has_second_ ? &second_ : nullptr; }
  void pop();
  [[nodiscard]] std::size_t thread() const { return thread_; }

 private:
  bool read(ShownStep& into);

  CallReplay replay_;
  CallFilter filter_;
  std::size_t thread_;
  std::vector<OpenCall> before_;  // open from the beginning on; told first
  std::size_t told_ = 0;
  ShownStep front_;
  ShownStep second_;
  bool has_front_ = false;
  bool has_second_ = false;
};

class MergedSteps {
 public:
  // Of the threads with these indices.
  MergedSteps(const Trace& trace, const std::vector<std::size_t>& threads,
              const CallChoice& choice);
  // The thread whose next step is the earliest; null when all are at their ends. Take the step by
  // its pop(), then ask anew.
  ShownSteps* earliest();

 private:
  using Steps = std::unique_ptr<ShownSteps>;
  static bool is_later(const Steps& left, const Steps& right);
  void sink();

  std::vector<Steps> heap_;  // the earliest first
  bool is_stale_ = false;    // whether the first has moved on
};

}  // namespace whocall
