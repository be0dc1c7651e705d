// What .eh_frame says of an address, found by the sorted table of .eh_frame_hdr: in a process that
// asks about itself, where nothing may be allocated and everything lies mapped.
// Source: Linux Standard Base Core, "Exception Frames"; DWARF 5, 6.4.
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

// Where a loaded file's tables lie.
struct FrameTables {
  ByteSpan mapped;            // what may be read, .eh_frame_hdr and .eh_frame among it
  std::uint64_t header = 0;   // address of .eh_frame_hdr; on ARM of .ARM.exidx
  std::uint64_t entries = 0;  // of .ARM.exidx
  unsigned word_size = 8;     // bytes of an address: 4 or 8
};

// False where no description covers `address`, or where the tables are damaged or of a form that
// linkers do not write.
bool find_description(const FrameTables& tables, std::uint64_t address, FrameDescription& found);

}  // namespace whocall::rules
