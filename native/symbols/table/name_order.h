// Very many names in order, each looked at a few times.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/large_blocks.h"

namespace whocall {

struct NamedItem {
  const char* name = nullptr;
  std::uint32_t size = 0;  // bytes of the name
  std::uint32_t item = 0;  // whatever has the name

  [[nodiscard]] std::string_view text() const { return {name, size}; }
};

using NamedItems = std::vector<NamedItem, LargeBlocks<NamedItem>>;

// Shorter names first, those of one length by the alphabet (of bytes); equal ones stand together.
// Comparing names pair by pair reads each of a million of them twenty times. Here eight bytes of
// all names of one length, from where they begin to differ, are taken as a number and sorted as
// such, then eight of those that agreed in them (Ng and Kakehi, "Cache Efficient Radix Sort for
// String Sorting", 2007).
// Names that are the same bytes in memory are looked at once. So the time is linear in the bytes of
// distinct names, however many share a beginning.
void sort_by_name(NamedItems& items);

}  // namespace whocall
