// Which calls a reader wants to see.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/address.h"
#include "tracing/trace.h"

namespace whocall {

struct CallChoice {
  std::uint32_t most_depth = ~std::uint32_t{0};        // of calls that are shown, counted from 0
  std::optional<std::unordered_set<Address>> roots;    // these functions and all that they call
  std::optional<std::unordered_set<Address>> visible;  // only calls of these
  std::uint64_t shortest = 0;  // nanoseconds: only calls that lasted so long
};

// Follows the steps of one thread and tells how deep each stands among what is shown.
class CallFilter {
 public:
  // Where a shortest duration is asked for, looks at the thread's events once. The choice must
  // outlive the object.
  CallFilter(const Trace& trace, std::size_t thread, const CallChoice& choice);

  // Depth among the calls that are shown; a miss for what is not.
  std::optional<std::uint32_t> place(const CallStep& step);
  // A call that was open when the trace began: they come first, outermost first.
  std::optional<std::uint32_t> begin(Address function);

 private:
  struct Open {
    bool is_root = false;
    bool is_shown = false;
  };

  void find_long_calls(CallReplay replay);
  [[nodiscard]] bool lasts(const CallStep& end) const;
  [[nodiscard]] bool wants(Address function) const {
    return !choice_.visible || choice_.visible->contains(function);
  }
  std::optional<std::uint32_t> end();

  const CallChoice& choice_;
  std::uint64_t first_;        // when the ring begins, nanoseconds
  std::vector<bool> is_long_;  // by number of the call, in the order in which they begin
  std::size_t begun_ = 0;      // calls so far
  std::vector<Open> open_;
  std::uint32_t roots_ = 0;
  std::uint32_t shown_ = 0;
};

}  // namespace whocall
