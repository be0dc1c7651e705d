// Collects the regions of a trace, each place once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "tracing/region_header.h"
#include "tracing/trace_thread.h"

namespace whocall {

class RegionCollector {
 public:
  explicit RegionCollector(TraceSource& source) : source_(source) {}

  // The region's successor in the list; 0 when there is none or this one was seen before. `room`:
  // bytes from the place to the end of what it lies in.
  std::uint64_t add(std::uint64_t place, Endian endian, std::uint64_t room) {
    if (!seen_.insert(place).second) {
      return 0;
    }
    RegionReading read = read_region(*source_.bytes, place, endian, room);
    if (!read.damage.empty()) {
      source_.remarks.push_back(read.damage);
    }
    if (read.thread) {
      source_.threads.push_back(std::move(*read.thread));
    }
    return read.next;
  }
  // To be called when all are added.
  void put_in_order() { std::ranges::stable_sort(source_.threads, {}, &TraceThread::serial); }
  [[nodiscard]] bool is_full() const { return seen_.size() >= kMostThreads; }

 private:
  static constexpr std::size_t kMostThreads = std::size_t{1} << 16U;

  TraceSource& source_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace whocall
