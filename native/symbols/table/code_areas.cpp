#include "symbols/table/code_areas.h"

#include <elf.h>

#include <algorithm>

#include "object/range_index.h"

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

std::vector<AddressRange> code_parts(const ElfFile& file) {
  std::vector<AddressRange> parts;
  for (const ElfSection& section : file.sections()) {
    if ((section.flags & SHF_ALLOC) != 0 && (section.flags & SHF_EXECINSTR) != 0) {
      parts.push_back({section.address, end_of(section.address, section.size)});
    }
  }
  if (parts.empty()) {
    for (const ElfSegment& segment : file.segments()) {
      if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0) {
        parts.push_back({segment.address, end_of(segment.address, segment.memory_size)});
      }
    }
  }
  std::erase_if(parts, [](const AddressRange& part) { return part.empty(); });
  std::ranges::sort(parts, {}, &AddressRange::begin);
  return parts;
}

std::vector<AddressRange> code_areas(const ElfFile& file) {
  std::vector<AddressRange> areas = united(code_parts(file));
  std::uint64_t size = 0;
  for (const AddressRange& area : areas) {
    size += std::min(area.size(), ~size);
  }
  std::uint64_t room = file.budget().cut(Cost::code, size);
  for (AddressRange& area : areas) {
    area.end = area.begin + std::min(area.size(), room);
    room -= area.size();
  }
  std::erase_if(areas, [](const AddressRange& area) { return area.empty(); });
  return areas;
}

}  // namespace whocall
