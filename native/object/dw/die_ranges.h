// Which DIE covers an address.
#pragma once

#include <cstdint>
#include <vector>

#include "base/address.h"
#include "object/dw/libdw.h"
#include "object/range_index.h"

namespace whocall {

class DieRanges {
 public:
  explicit DieRanges(bool takes_zero) : takes_zero_(takes_zero) {}
  // Adds the code of `die` (its low and high address, or its ranges) for `owner`.
  //
  // Folklore. Situation: the linker throws functions away and leaves their debug info, where their
  // addresses become 0 (of lld and in .debug_ranges 1, or the highest). Example: a program linked
  // with --gc-sections whose first kilobytes seem to be in a function that is not there. Remedy: a
  // range that begins at 0 is none. That of an object file, where all begin at 0, is.
  void add(Dwarf_Die& die, std::uint32_t owner);
  void close();  // before the first look-up

  // The owner of the range that begins last at or below `address` and holds it; kNoRange without.
  [[nodiscard]] std::uint32_t find(Address address) const { return find_range(pieces_, address); }

 private:
  struct Range {
    AddressRange code;
    std::uint32_t owner;
  };

  bool takes_zero_;
  std::vector<Range> ranges_;
  std::vector<RangePiece> pieces_;
};

}  // namespace whocall
