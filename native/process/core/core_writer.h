// Writes cores: of crashes that another dump tells, and of what is needed of one that is larger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "arch/architecture.h"
#include "base/byte_sink.h"
#include "base/byte_view.h"

namespace whocall {

// A part of the process's memory.
struct CoreSegment {
  Address address = 0;
  std::uint64_t size = 0;   // bytes
  std::uint64_t held = 0;   // so many of them, from the first on, are known
  std::uint64_t place = 0;  // and lie there
  std::uint32_t flags = 0;  // PF_*
};

// Bytes of memory in them.
std::uint64_t held_bytes(const std::vector<CoreSegment>& segments);

// Appends a note in the form that cores have them.
void append_note(ByteSink& out, std::string_view owner, std::uint32_t type,
                 std::span<const std::byte> contents);

// Writes the core to the file that is open for writing; what is behind its end is cut off. `notes`
// stand one behind the other, and the places in the segments are of `memory`. Returns errno where
// that failed; 0 else.
int write_core(int file, const Architecture& arch, const std::vector<std::byte>& notes,
               const std::vector<CoreSegment>& segments, ByteView memory);

}  // namespace whocall
