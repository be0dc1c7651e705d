// Which calls a reader wants to see.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/address.h"
#include "tracing/call_replay.h"

namespace whocall {

struct CallChoice {
  std::uint32_t most_depth = ~std::uint32_t{0};        // of calls that are shown, counted from 0
  std::optional<std::unordered_set<Address>> roots;    // these functions and all that they call
  std::optional<std::unordered_set<Address>> visible;  // only calls of these
};

// Follows the steps of one thread and tells how deep each stands among what is shown.
class CallFilter {
 public:
  explicit CallFilter(const CallChoice& choice) : choice_(choice) {}

  // Depth among the calls that are shown; a miss for what is not.
  std::optional<std::uint32_t> place(const CallStep& step) {
    switch (step.kind) {
      case CallStep::Kind::begin:
        return begin(step.call.function);
      case CallStep::Kind::end:
        return end();
      case CallStep::Kind::orphan:
        return choice_.roots || !wants(step.call.function) ? std::nullopt : std::optional(shown_);
      case CallStep::Kind::fork:
        return shown_;
    }
    return std::nullopt;
  }
  // A call that was open when the trace began.
  std::optional<std::uint32_t> begin(Address function) {
    const bool is_root = choice_.roots && choice_.roots->contains(function);
    roots_ += is_root ? 1 : 0;
    const bool inside = !choice_.roots || roots_ != 0;
    const bool is_shown = inside && wants(function) && shown_ <= choice_.most_depth;
    open_.push_back({is_root, is_shown});
    return is_shown ? std::optional(shown_++) : std::nullopt;
  }

 private:
  struct Open {
    bool is_root = false;
    bool is_shown = false;
  };

  [[nodiscard]] bool wants(Address function) const {
    return !choice_.visible || choice_.visible->contains(function);
  }
  std::optional<std::uint32_t> end() {
    if (open_.empty()) {
      return std::nullopt;
    }
    const Open last = open_.back();
    open_.pop_back();
    roots_ -= last.is_root ? 1 : 0;
    return last.is_shown ? std::optional(--shown_) : std::nullopt;
  }

  const CallChoice& choice_;
  std::vector<Open> open_;
  std::uint32_t roots_ = 0;
  std::uint32_t shown_ = 0;
};

}  // namespace whocall
