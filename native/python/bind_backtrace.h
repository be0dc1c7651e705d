// A finished walk as Python holds it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "python/session.h"
#include "report/form/named_walk.h"

namespace whocall::python {

struct WalkRequest {
  WalkOptions walk;
  NamingOptions names;
  bool past_main = true;  // whether what called main has lines
};

// The walk's names point into the session.
struct FinishedWalk {
  FinishedWalk(std::shared_ptr<Session> of, std::size_t walked_thread, NamedWalk walked)
      : session(std::move(of)), thread(walked_thread), frames(std::move(walked)) {}

  std::shared_ptr<Session> session;
  std::size_t thread;  // index into the image's
  NamedWalk frames;
};

// Python's range, all of whose numbers are frames of `walk`.
FrameRange range_of(const FinishedWalk& walk, const pybind11::object& wanted);

std::shared_ptr<FinishedWalk> walk_thread(const std::shared_ptr<Session>& session,
                                          std::size_t thread, const WalkRequest& request);

}  // namespace whocall::python
