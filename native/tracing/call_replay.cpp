#include "tracing/call_replay.h"

#include <algorithm>

namespace whocall {

CallReplay::CallReplay(const TraceBytes& bytes, const TraceThread& thread, double rate,
                       std::size_t outer, const FunctionHomes& homes)
    : thread_(thread), homes_(homes), cursor_(bytes, thread, rate) {
  for (const ShadowEntry& entry : std::span(thread.stack).first(outer)) {
    open_.push_back({.function = entry.function,
                     .call_site = entry.call_site,
                     .depth = static_cast<std::uint32_t>(entry.depth),
                     .began = thread.began.nanoseconds,
                     .began_before = true});
  }
  time_ = thread.began.nanoseconds;
}

void CallReplay::end_top(CallEnd how) {
  step_ = {.kind = CallStep::Kind::end, .call = open_.back(), .time = time_, .how = how};
  open_.pop_back();
}

CallEnd CallReplay::unseen_end() const {
  return thread_.sees_no_returns ? CallEnd::gone : CallEnd::left;
}

std::optional<Address> CallReplay::home(Address address) const {
  const auto found = homes_.find(address);
  return found == homes_.end() ? std::nullopt : std::optional(found->second);
}

// Where nobody sees returns: the caller of what begins is another one that is open, so the
// innermost one is over. A caller without a hook is none of them, and says nothing.
bool CallReplay::has_returned() const {
  const auto caller = home(pending_->call_site);
  if (!thread_.sees_no_returns || pending_->kind != EventKind::enter || !caller ||
      home(open_.back().function) == caller) {
    return false;
  }
  constexpr std::size_t kMostCompared = 64;
  const std::size_t count = std::min(open_.size(), kMostCompared);
  return std::any_of(open_.rbegin(), open_.rbegin() + static_cast<std::ptrdiff_t>(count),
                     [&](const OpenCall& call) { return home(call.function) == caller; });
}

// Closes one call that the pending event shows to be gone; false when there is none.
bool CallReplay::close_next() {
  if (open_.empty()) {
    return false;
  }
  if (has_returned()) {
    end_top(unseen_end());
    return true;
  }
  const OpenCall& top = open_.back();
  const bool enters = pending_->kind == EventKind::enter;
  if (pending_->kind == EventKind::fork || top.depth < pending_->depth ||
      (!enters && top.depth == pending_->depth && top.function == pending_->function)) {
    return false;
  }
  end_top(unseen_end());
  return true;
}

void CallReplay::take(const TraceEvent& event) {
  OpenCall call{.function = event.function,
                .call_site = event.call_site,
                .depth = event.depth,
                .began = time_};
  switch (event.kind) {
    case EventKind::enter:
      open_.push_back(call);
      step_ = {.kind = CallStep::Kind::begin, .call = call, .time = time_};
      return;
    case EventKind::exit:
      if (!open_.empty() && open_.back().depth == event.depth) {
        end_top(CallEnd::returned);
        return;
      }
      call.began = thread_.began.nanoseconds;
      call.began_before = true;
      step_ = {.kind = CallStep::Kind::orphan, .call = call, .time = time_};
      return;
    case EventKind::fork:
      step_ = {.kind = CallStep::Kind::fork, .call = call, .time = time_};
      return;
  }
}

const CallStep* CallReplay::next() {
  const CallStep* const step = advance();
  if (step != nullptr) {
    step_.event = at_end_ ? kNoEvent : cursor_.number();
  }
  return step;
}

const CallStep* CallReplay::advance() {
  if (!pending_ && !at_end_) {
    if (const TraceEvent* event = cursor_.next()) {
      pending_ = *event;
      time_ = event->time;
    } else {
      at_end_ = true;
    }
  }
  if (pending_) {
    if (!close_next()) {
      take(*pending_);
      pending_.reset();
    }
    return &step_;
  }
  if (open_.empty()) {
    return nullptr;
  }
  // What is open now goes on where the shadow stack has it too.
  const OpenCall& top = open_.back();
  const auto alive = [&](const ShadowEntry& entry) {
    return entry.depth == top.depth && entry.function == top.function;
  };
  const bool beyond = thread_.overflow != 0 && top.depth > thread_.stack.size();
  const auto at =
      std::ranges::lower_bound(thread_.stack, std::uint64_t{top.depth}, {}, &ShadowEntry::depth);
  const bool running = thread_.lives && (beyond || (at != thread_.stack.end() && alive(*at)));
  // Of one that nobody sees return nothing tells when that was, should it be over.
  const CallEnd at_end = running ? CallEnd::running : CallEnd::left;
  end_top(thread_.sees_no_returns ? CallEnd::open : at_end);
  return &step_;
}

}  // namespace whocall
