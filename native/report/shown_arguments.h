// The arguments of frames that are shown, found when the first of a backtrace is.
#pragma once

#include <vector>

#include "arguments/arguments.h"
#include "report/thread_trace.h"

namespace whocall {

class ShownArguments {
 public:
  // `code` must outlive it.
  explicit ShownArguments(CodeValues& code) : code_(code) {}

  // Null where nothing is known; good until another backtrace is asked about.
  const FrameArguments* of(const ThreadTrace& trace, const FrameFacts& facts);

 private:
  void find(const ThreadTrace& trace);

  CodeValues& code_;
  const NamedWalk* walk_ = nullptr;  // that was asked about last
  std::vector<FrameArguments> found_;
};

}  // namespace whocall
