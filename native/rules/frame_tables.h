// The description of an address in .eh_frame, found by the sorted table of .eh_frame_hdr.
// Source: Linux Standard Base Core, ".eh_frame_hdr".
#pragma once

#include <cstdint>

#include "rules/frame_description.h"

namespace whocall::rules {

// Where a loaded file's tables lie.
struct FrameTables {
  ByteSpan mapped;            // what may be read, .eh_frame_hdr and .eh_frame among it
  std::uint64_t header = 0;   // address of .eh_frame_hdr; on ARM of .ARM.exidx
  std::uint64_t entries = 0;  // of .ARM.exidx
  unsigned word_size = 8;     // bytes of an address: 4 or 8
};

// False where no description covers `address`, or where the tables are damaged or of a form that
// linkers do not write.
bool find_description(const FrameTables& tables, std::uint64_t address, WholeDescription& found);

}  // namespace whocall::rules
