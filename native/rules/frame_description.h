// What an entry of .eh_frame or .debug_frame says: in a process that asks about itself, where
// nothing may be allocated and everything lies mapped.
// Source: Linux Standard Base Core, "Exception Frames"; DWARF 5, 6.4.1.
#pragma once

#include <cstdint>

#include "rules/byte_cursor.h"

namespace whocall::rules {

// One FDE, with what its CIE says.
struct FrameDescription {
  std::uint64_t begin = 0;  // of the code that it covers
  std::uint64_t end = 0;
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint64_t return_address = 0;  // column
  bool signal_frame = false;         // augmentation 'S'
  ByteSpan initial;                  // the CIE's instructions
  ByteSpan own;                      // the FDE's
};

// Entries, and how they are written.
struct FrameEntries {
  ByteSpan bytes;          // in what is loaded from its address on, in .debug_frame from 0 on
  unsigned word_size = 8;  // bytes of an address: 4 or 8
  bool debug = false;      // .debug_frame
};

// Reads the FDE that stands at `place`. False where none does, or where it is damaged or of a form
// that compilers do not write (in .debug_frame also DWARF's 64-bit one).
bool read_description(const FrameEntries& entries, std::uint64_t place, FrameDescription& found);

// Where the entry behind the one at `place` stands; false where none begins there.
bool find_next_entry(const FrameEntries& entries, std::uint64_t place, std::uint64_t& next);

}  // namespace whocall::rules
