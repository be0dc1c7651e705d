// The events of a thread, oldest first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tracing/trace_thread.h"

namespace whocall {

// Nanoseconds of CLOCK_MONOTONIC for readings of a thread's clock.
class ThreadClock {
 public:
  // `rate`: nanoseconds per tick, where the thread counts ticks.
  ThreadClock(const TraceThread& thread, double rate)
      : counts_ticks_(thread.counts_ticks), began_(thread.began), rate_(rate) {}
  // `reading`: the lower 56 bits.
  [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t reading) const;

 private:
  bool counts_ticks_;
  ClockMoment began_;
  double rate_;
};

// Nanoseconds per tick, by the thread whose two moments lie farthest apart; 1 without any.
double tick_rate(const std::vector<TraceThread>& threads);

enum class EventKind : std::uint8_t { enter = 1, exit = 2, fork = 3 };

struct TraceEvent {
  EventKind kind = EventKind::enter;
  std::uint32_t depth = 0;
  Address function = 0;    // runtime address of its first byte
  Address call_site = 0;   // where it returns to; of a fork the parent's process id
  std::uint64_t time = 0;  // nanoseconds of CLOCK_MONOTONIC; never before the one before
};

// Reads a ring piece by piece. Records of another lap, which were being written, and those that
// cannot be true are left out and counted.
class EventCursor {
 public:
  EventCursor(const TraceBytes& bytes, const TraceThread& thread, double rate);
  // The next event; null at the end. Valid until the next call.
  const TraceEvent* next();
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }
  // Of the event that next() has told last; before the first one meaningless.
  [[nodiscard]] std::uint64_t number() const { return number_ - 1; }

 private:
  bool fill();
  bool decode(ByteView record, std::uint64_t number);

  const TraceBytes& bytes_;
  const TraceThread& thread_;
  ThreadClock clock_;
  std::uint64_t number_;     // of the next event
  std::uint64_t lap_shift_;  // log2 of the ring's capacity
  std::vector<std::byte> piece_;
  std::uint64_t piece_first_ = 0;  // number of its first event
  std::uint64_t piece_count_ = 0;
  std::uint64_t damaged_ = 0;
  TraceEvent event_;
};

}  // namespace whocall
