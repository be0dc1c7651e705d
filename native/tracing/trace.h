// A program's call trace, opened: its threads, and what a first look at all events tells.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tracing/call_replay.h"
#include "tracing/trace_thread.h"

namespace whocall {

struct ThreadMeasure {
  std::uint64_t calls = 0;  // events that are the beginning of a call
  std::uint64_t returns = 0;
  std::uint64_t damaged = 0;  // records that were left out
  std::uint64_t end = 0;      // the number behind that of the last event that could be read
  std::uint64_t first = 0;    // nanoseconds, of the first event and of the last one; 0: none
  std::uint64_t last = 0;
  std::size_t outer = 0;  // see CallReplay
};

class Trace {
 public:
  // Looks at all events once.
  explicit Trace(TraceSource source);

  [[nodiscard]] const TraceSource& source() const { return source_; }
  [[nodiscard]] const std::vector<TraceThread>& threads() const { return source_.threads; }
  [[nodiscard]] const ThreadMeasure& measure(std::size_t thread) const { return measures_[thread]; }
  // Of all threads' first events the earliest, nanoseconds of CLOCK_MONOTONIC.
  [[nodiscard]] std::uint64_t origin() const { return origin_; }
  [[nodiscard]] CallReplay replay(std::size_t thread) const;
  // What is known of functions() and call_sites(), for replays from then on.
  void tell_homes(FunctionHomes homes) { homes_ = std::move(homes); }

  // How many of its events from that number on can be read.
  [[nodiscard]] std::uint64_t events_from(std::size_t thread, std::uint64_t first) const;

  // Runtime addresses: first bytes of the functions of all events and shadow stacks, and where
  // calls return to; sorted.
  [[nodiscard]] const std::vector<Address>& functions() const { return functions_; }
  [[nodiscard]] const std::vector<Address>& call_sites() const { return call_sites_; }

 private:
  void look_at(std::size_t number, std::unordered_set<Address>& functions,
               std::unordered_set<Address>& call_sites);

  TraceSource source_;
  double rate_;
  std::vector<ThreadMeasure> measures_;
  std::vector<Address> functions_;
  std::vector<Address> call_sites_;
  std::uint64_t origin_ = 0;
  FunctionHomes homes_;
};

}  // namespace whocall
