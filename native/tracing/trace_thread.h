// Threads that recorded their calls, and where the bytes of their records come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

// Who gives the bytes: a process's memory by runtime address, a file by offset.
class TraceBytes {
 public:
  TraceBytes() = default;
  TraceBytes(const TraceBytes&) = delete;
  TraceBytes& operator=(const TraceBytes&) = delete;
  virtual ~TraceBytes() = default;
  // Fills `out` from `place` on; returns how many bytes could be had.
  virtual std::size_t read(std::uint64_t place, std::span<std::byte> out) const = 0;
};

// A live activation of a shadow stack.
struct ShadowEntry {
  Address function = 0;   // runtime address of its first byte
  Address call_site = 0;  // where it returns to
  Address sp = 0;         // at the call of its hook
  Address cfa = 0;        // where its frame ends
  std::uint64_t depth = 0;
};

struct ClockMoment {
  std::uint64_t ticks = 0;
  std::uint64_t nanoseconds = 0;
};

// A thread's region (native/runtime/trace/layout.h), checked: offsets and sizes fit.
struct TraceThread {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t serial = 0;  // order of registration
  std::string name;
  bool counts_ticks = false;
  // Hooks stand at the beginnings of functions alone (-pg): ends of calls are not among the events.
  bool sees_no_returns = false;
  ClockMoment began;
  ClockMoment latest;
  std::uint64_t began_realtime = 0;  // nanoseconds since 1970
  std::uint64_t place = 0;           // of the region
  std::uint64_t ring_place = 0;
  std::uint64_t ring_capacity = 0;  // events, a power of two
  std::uint64_t first_event = 0;
  std::uint64_t events = 0;        // number of the next one
  std::vector<ShadowEntry> stack;  // outermost first
  std::uint64_t overflow = 0;      // live activations beyond the shadow stack's capacity
  Endian endian = Endian::little;
  // Whether the thread was there when the image was made: what its shadow stack holds is live.
  bool lives = true;

  // Number of the oldest event that the ring still holds, and how many it lost before.
  [[nodiscard]] std::uint64_t oldest() const {
    const std::uint64_t kept = events > ring_capacity ? events - ring_capacity : 0;
    return kept > first_event ? kept : first_event;
  }
  [[nodiscard]] std::uint64_t lost() const { return oldest() - first_event; }
};

struct TraceSource {
  std::string path;  // of the core or file; empty for a live process
  std::shared_ptr<const TraceBytes> bytes;
  std::vector<TraceThread> threads;  // by serial
  std::vector<std::string> remarks;  // whole sentences on what was left out
  // Of a file: /proc/PID/maps as the program saw it last, and the program's instruction set; null
  // where that is not known.
  std::string maps;
  const Architecture* arch = nullptr;
};

}  // namespace whocall
