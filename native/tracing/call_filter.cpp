#include "tracing/call_filter.h"

#include <algorithm>
#include <numeric>

#include "base/interrupt.h"

namespace whocall {

CallFilter::CallFilter(const Trace& trace, std::size_t thread, const CallChoice& choice)
    : choice_(choice), first_(trace.measure(thread).first) {
  if (choice_.shortest != 0) {
    find_long_calls(trace.replay(thread));
  }
}

// Of calls that began before what the ring holds, the part that it holds counts.
bool CallFilter::lasts(const CallStep& end) const {
  const std::uint64_t began =
      end.call.began_before ? std::max(end.call.began, first_) : end.call.began;
  return end.time >= began && end.time - began >= choice_.shortest;
}

void CallFilter::find_long_calls(CallReplay replay) {
  is_long_.assign(replay.open().size(), false);
  std::vector<std::size_t> open(is_long_.size());  // their numbers
  std::iota(open.begin(), open.end(), std::size_t{0});
  std::size_t turn = 0;
  while (const CallStep* step = replay.next()) {
    check_interrupt_at(turn++, kManyEntries);
    if (step->kind == CallStep::Kind::begin) {
      open.push_back(is_long_.size());
      is_long_.push_back(false);
    } else if (step->kind == CallStep::Kind::end && !open.empty()) {
      is_long_[open.back()] = lasts(*step);
      open.pop_back();
    }
  }
}

std::optional<std::uint32_t> CallFilter::place(const CallStep& step) {
  switch (step.kind) {
    case CallStep::Kind::begin:
      return begin(step.call.function);
    case CallStep::Kind::end:
      return end();
    case CallStep::Kind::orphan:
      return choice_.roots || !wants(step.call.function) || !lasts(step) ? std::nullopt
                                                                         : std::optional(shown_);
    case CallStep::Kind::fork:
      return shown_;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> CallFilter::begin(Address function) {
  const bool is_root = choice_.roots && choice_.roots->contains(function);
  roots_ += is_root ? 1 : 0;
  const bool inside = !choice_.roots || roots_ != 0;
  const bool is_long = choice_.shortest == 0 || (begun_ < is_long_.size() && is_long_[begun_]);
  ++begun_;
  const bool is_shown = inside && is_long && wants(function) && shown_ <= choice_.most_depth;
  open_.push_back({is_root, is_shown});
  return is_shown ? std::optional(shown_++) : std::nullopt;
}

std::optional<std::uint32_t> CallFilter::end() {
  if (open_.empty()) {
    return std::nullopt;
  }
  const Open last = open_.back();
  open_.pop_back();
  roots_ -= last.is_root ? 1 : 0;
  return last.is_shown ? std::optional(--shown_) : std::nullopt;
}

}  // namespace whocall
