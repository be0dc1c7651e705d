#include "symbols/code_areas.h"

#include <elf.h>

#include <algorithm>
#include <utility>

namespace whocall {

std::vector<AddressRange> united(std::vector<AddressRange> ranges) {
  std::erase_if(ranges, [](const AddressRange& range) { return range.empty(); });
  std::ranges::sort(ranges, {}, &AddressRange::begin);
  std::vector<AddressRange> result;
  for (const AddressRange& range : ranges) {
    if (!result.empty() && range.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

std::vector<AddressRange> code_areas(const ElfFile& file) {
  std::vector<AddressRange> ranges;
  for (const ElfSection& section : file.sections()) {
    if ((section.flags & SHF_ALLOC) != 0 && (section.flags & SHF_EXECINSTR) != 0) {
      ranges.push_back(section.range());
    }
  }
  if (ranges.empty()) {
    for (const ElfSegment& segment : file.segments()) {
      if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0) {
        ranges.push_back({segment.address, segment.address + segment.memory_size});
      }
    }
  }
  return united(std::move(ranges));
}

}  // namespace whocall
