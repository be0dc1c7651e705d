// A finished walk as Python holds it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "python/session.h"
#include "report/frame_facts.h"

namespace whocall::python {

struct WalkRequest {
  WalkOptions walk;
  NamingOptions names;
  bool past_main = true;  // whether what called main has lines
};

// The walk's names point into the session.
struct FinishedWalk {
  FinishedWalk(std::shared_ptr<Session> of, NamedWalk walked)
      : session(std::move(of)), frames(std::move(walked)) {}

  std::shared_ptr<Session> session;
  NamedWalk frames;
};

std::shared_ptr<FinishedWalk> walk_thread(const std::shared_ptr<Session>& session,
                                          std::size_t thread, const WalkRequest& request);

}  // namespace whocall::python
