// A finished walk as Python holds it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "python/session.h"
#include "unwind/backtrace.h"
#include "unwind/named_frames.h"

namespace whocall::python {

struct WalkRequest {
  WalkOptions walk;
  NamingOptions names;
};

// Frames point into the walk and into the session, so every view keeps both.
struct FinishedWalk {
  std::shared_ptr<Session> session;
  Backtrace backtrace;
  std::vector<NamedFrame> named;
};

struct FrameView {
  std::shared_ptr<FinishedWalk> walk;
  std::size_t index = 0;

  [[nodiscard]] const NamedFrame& named() const { return walk->named[index]; }
  [[nodiscard]] const Frame& frame() const { return *named().frame; }
  [[nodiscard]] const Place& place() const { return *named().place; }
};

std::shared_ptr<FinishedWalk> walk_thread(const std::shared_ptr<Session>& session,
                                          std::size_t thread, const WalkRequest& request);

}  // namespace whocall::python
