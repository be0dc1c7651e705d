#include "symbols/coverage.h"

#include <algorithm>
#include <vector>

#include "object/call_frame_info.h"
#include "object/exidx.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

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
  if (const Exidx* index = exception_index_of(file)) {
    for (std::size_t i = 0; i < index->size(); ++i) {
      if (const ExidxEntry entry = index->at(i); !entry.instructions.empty()) {
        ranges.push_back(entry.range);
      }
    }
  }
  return ranges;
}

}  // namespace

CodeCoverage measure_coverage(const ElfFile& file) {
  const auto code = code_areas(file);
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
