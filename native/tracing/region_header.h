// Reads the header of a thread's region and its shadow stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tracing/trace_thread.h"

namespace whocall {

// The byte order in which the eight bytes at `place` are this magic; a miss when in none.
std::optional<Endian> order_of_magic(const TraceBytes& bytes, std::uint64_t place,
                                     std::uint64_t magic);

// A number of 4 or 8 bytes of a structure; a miss where it cannot be read.
std::optional<std::uint64_t> number_at(const TraceBytes& bytes, std::uint64_t place, unsigned size,
                                       Endian endian);

struct RegionReading {
  std::optional<TraceThread> thread;
  std::uint64_t next = 0;  // address of another region; 0: none
  std::string damage;      // why there is no thread, or what of it is left out; may be empty
};

// The region at `place`, which begins with its magic. `limit`: bytes that a region can have.
RegionReading read_region(const TraceBytes& bytes, std::uint64_t place, Endian endian,
                          std::uint64_t limit);

}  // namespace whocall
