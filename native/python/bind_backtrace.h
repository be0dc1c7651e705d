// A finished walk as Python holds it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "python/session.h"
#include "unwind/walk/backtrace.h"
#include "unwind/walk/named_frames.h"

namespace whocall::python {

struct WalkRequest {
  WalkOptions walk;
  NamingOptions names;
  bool past_main = true;  // whether what called main has lines
};

// Frames point into the walk and into the session, so every view keeps both.
struct FinishedWalk {
  std::shared_ptr<Session> session;
  Backtrace backtrace;
  std::vector<NamedFrame> named;
  std::vector<std::size_t> searched;  // levels of the frames that were found by a search
};

struct FrameView {
  std::shared_ptr<FinishedWalk> walk;
  std::size_t index = 0;

  [[nodiscard]] const NamedFrame& named() const { return walk->named[index]; }
  [[nodiscard]] const Frame& frame() const { return *named().frame; }
  [[nodiscard]] const Place& place() const { return *named().place; }
  // The level of the nearest inner frame that was found by a search of the stack: what this one is
  // found from. Inlined calls are part of the frame that holds them, not inner to it.
  [[nodiscard]] std::optional<std::size_t> rests_on() const;
};

std::shared_ptr<FinishedWalk> walk_thread(const std::shared_ptr<Session>& session,
                                          std::size_t thread, const WalkRequest& request);

}  // namespace whocall::python
