// .eh_frame_hdr: the linker's sorted table of FDEs (LSB, "The .eh_frame_hdr section").
#pragma once

#include <cstdint>
#include <optional>

#include "base/address.h"
#include "object/elf_parts.h"

namespace whocall {

// Only the one encoding that linkers write (data-relative, 4 signed bytes) is searched; other
// tables are as good as none.
class EhFrameHeader {
 public:
  EhFrameHeader(const LoadedPart& part, unsigned pointer_size);

  [[nodiscard]] bool searchable() const { return count_ != 0; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Whether the starts ascend, as the search takes for granted.
  [[nodiscard]] bool is_in_order() const;
  // The link address of the FDE with the nearest start at or below `address`. A miss when all
  // start above it. The table may lie: the FDE has to be asked whether it covers the address.
  [[nodiscard]] std::optional<Address> find(Address address) const;

 private:
  [[nodiscard]] Address entry(std::uint64_t index, unsigned field) const;

  Address base_ = 0;
  Address mask_ = 0;
  ByteView table_;  // pairs of (start of the function, place of its FDE)
  std::uint64_t count_ = 0;
};

}  // namespace whocall
