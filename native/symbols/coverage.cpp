#include "symbols/coverage.h"

#include <elf.h>

#include <algorithm>
#include <vector>

#include "object/call_frame_info.h"

namespace whocall {
namespace {

std::vector<AddressRange> code_ranges(const ElfFile& file) {
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
  return ranges;
}

std::vector<AddressRange> fde_ranges(const ElfFile& file) {
  std::vector<AddressRange> ranges;
  const auto collect = [&](CallFrameInfo::Format format, const std::optional<LoadedPart>& part) {
    if (part) {
      CallFrameInfo(format, *part, std::nullopt, file.pointer_size()).for_each([&](const Fde& fde) {
        ranges.push_back(fde.range);
      });
    }
  };
  collect(CallFrameInfo::Format::eh_frame, file.eh_frame());
  collect(CallFrameInfo::Format::debug_frame, file.debug_frame());
  return ranges;
}

// Sorted, and joined where they touch or overlap, so that no byte counts twice.
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

}  // namespace

CodeCoverage measure_coverage(const ElfFile& file) {
  const auto code = united(code_ranges(file));
  const auto covered = united(fde_ranges(file));
  CodeCoverage coverage;
  auto at = covered.begin();
  for (const AddressRange& range : code) {
    coverage.code_bytes += range.size();
    while (at != covered.end() && at->end <= range.begin) {
      ++at;
    }
    for (auto part = at; part != covered.end() && part->begin < range.end; ++part) {
      coverage.cfi_bytes +=
          AddressRange{std::max(part->begin, range.begin), std::min(part->end, range.end)}.size();
    }
  }
  return coverage;
}

}  // namespace whocall
