// Writes a core of a crash that another dump tells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_view.h"
#include "process/minidump/minidump.h"

namespace whocall {

// A part of the process's memory.
struct CoreSegment {
  Address address = 0;
  std::uint64_t size = 0;   // bytes
  std::uint64_t held = 0;   // the dump has so many of them, from the first on,
  std::uint64_t place = 0;  // there
  std::uint32_t flags = 0;  // PF_*
};

// Disjoint, by address: what the dump holds, and the rest of the mappings around it. Of pieces and
// of mappings that overlap the one that begins first wins; memory outside all mappings is data.
std::vector<CoreSegment> core_segments_of(const Minidump& dump);

// Bytes of memory in them.
std::uint64_t held_bytes(const std::vector<CoreSegment>& segments);

// Writes the core to the file that is open for writing; what is behind its end is cut off. The
// places in the segments are of `memory`. Returns errno where that failed; 0 else.
int write_core(int file, const Minidump& dump, const std::vector<CoreSegment>& segments,
               ByteView memory);

}  // namespace whocall
