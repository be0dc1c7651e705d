// The description of an address in .debug_frame. Debuggers read that section, and it has no sorted
// table: an index is made once, in memory that the caller has.
// Source: DWARF 5, 6.4.1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rules/frame_description.h"

namespace whocall::rules {

// Where the description of a piece of code stands.
struct IndexedDescription {
  std::uint64_t begin = 0;  // of the code, link address
  std::uint64_t place = 0;  // in the section, bytes
};

struct DebugFrame {
  FrameEntries entries;
  const IndexedDescription* index = nullptr;  // ascending
  std::size_t count = 0;
};

// How many entries there are: CIEs too. An index needs no more room than that.
std::size_t count_entries(const FrameEntries& entries);

// Fills in the index of all descriptions that can be read, at most `room`, and returns how many.
// It ends at the first entry that is damaged.
std::size_t make_index(const FrameEntries& entries, IndexedDescription* index, std::size_t room);

// By link address. False where no description covers it.
bool find_description(const DebugFrame& frames, std::uint64_t address, WholeDescription& found);

}  // namespace whocall::rules
