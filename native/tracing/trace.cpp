#include "tracing/trace.h"

#include <algorithm>
#include <utility>

#include "base/long_work.h"

namespace whocall {
namespace {

std::vector<Address> sorted(const std::unordered_set<Address>& set) {
  std::vector<Address> all(set.begin(), set.end());
  std::ranges::sort(all);
  return all;
}

}  // namespace

Trace::Trace(TraceSource source)
    : source_(std::move(source)),
      rate_(tick_rate(source_.threads)),
      measures_(source_.threads.size()) {
  const LongWork work("Reading the call trace of", source_.path);
  std::unordered_set<Address> functions;
  std::unordered_set<Address> call_sites;
  for (std::size_t thread = 0; thread < measures_.size(); ++thread) {
    look_at(thread, functions, call_sites);
    const std::uint64_t first = measures_[thread].first;
    origin_ = origin_ == 0 || (first != 0 && first < origin_) ? first : origin_;
  }
  functions_ = sorted(functions);
  call_sites_ = sorted(call_sites);
}

void Trace::look_at(std::size_t number, std::unordered_set<Address>& functions,
                    std::unordered_set<Address>& call_sites) {
  const TraceThread& thread = source_.threads[number];
  ThreadMeasure& measure = measures_[number];
  std::uint64_t least = ~std::uint64_t{0};  // depth of events
  Address function = ~Address{0};           // of the event before: none yet
  Address call_site = ~Address{0};
  measure.end = thread.oldest();
  EventCursor cursor(*source_.bytes, thread, rate_);
  while (const TraceEvent* event = cursor.next()) {
    measure.end = cursor.number() + 1;
    measure.first = measure.first == 0 ? event->time : measure.first;
    measure.last = event->time;
    if (event->kind == EventKind::fork) {
      continue;
    }
    measure.calls += event->kind == EventKind::enter ? 1 : 0;
    measure.returns += event->kind == EventKind::exit ? 1 : 0;
    least = std::min<std::uint64_t>(least, event->depth);
    if (std::exchange(function, event->function) != event->function) {
      functions.insert(event->function);
    }
    if (std::exchange(call_site, event->call_site) != event->call_site) {
      call_sites.insert(event->call_site);
    }
  }
  measure.damaged = cursor.damaged();
  for (const ShadowEntry& entry : thread.stack) {
    functions.insert(entry.function);
    call_sites.insert(entry.call_site);
    // Events without filters would have shown it where it began later.
    measure.outer += entry.depth < least ? 1 : 0;
  }
}

std::uint64_t Trace::events_from(std::size_t thread, std::uint64_t first) const {
  std::uint64_t count = 0;
  EventCursor cursor(*source_.bytes, source_.threads[thread], rate_);
  while (cursor.next() != nullptr) {
    count += cursor.number() >= first ? 1 : 0;
  }
  return count;
}

CallReplay Trace::replay(std::size_t thread) const {
  return {*source_.bytes, source_.threads[thread], rate_, measures_[thread].outer, homes_};
}

}  // namespace whocall
