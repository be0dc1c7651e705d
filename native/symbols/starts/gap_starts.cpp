#include "symbols/starts/gap_starts.h"

#include <algorithm>

#include "base/interrupt.h"
#include "object/call_frame_info.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

using Ranges = std::vector<AddressRange>;  // ascending, apart from each other

Ranges delimited_by_tables(const ElfFile& file) {
  Ranges ranges;
  for (const CallFrameInfo* info : {eh_frame_of(file), debug_frame_of(file)}) {
    if (info != nullptr) {
      const Ranges found = info->ranges();
      ranges.insert(ranges.end(), found.begin(), found.end());
    }
  }
  return united(std::move(ranges));
}

bool covers(const Ranges& ranges, Address address) {
  const auto after = std::ranges::upper_bound(ranges, address, {}, &AddressRange::begin);
  return after != ranges.begin() && std::prev(after)->contains(address);
}

// Where a function may begin: at an aligned address behind a return, a jump or padding.
void append_candidates(ByteView code, const AddressRange& area, const AddressRange& gap,
                       const Architecture& arch, std::vector<Address>& candidates) {
  const Address step = arch.code.function_alignment;
  const Address first = (step - gap.begin % step) % step;  // bytes into the gap
  for (Address into = first; into < gap.size(); into += step) {
    check_interrupt_at(into / step, kManyEntries);
    const StartFeatures features = arch.code.features_at_start(code, gap.begin - area.begin + into);
    if (features.behind_end && !features.catches) {
      candidates.push_back(gap.begin + into);
    }
  }
}

std::vector<Address> candidates_in(const ElfFile& file, const Architecture& arch,
                                   const Ranges& areas, const Ranges& delimited) {
  std::vector<Address> candidates;
  for (const AddressRange& area : areas) {
    const ByteView code = file.at(area.begin);
    // A damaged file tells of more code than it has.
    const Address end = area.begin + std::min<std::uint64_t>(area.size(), code.size());
    Address next = area.begin;
    const auto first = std::ranges::lower_bound(delimited, area.begin, {}, &AddressRange::end);
    for (auto each = first; each != delimited.end() && each->begin < end; ++each) {
      append_candidates(code, area, {next, std::max(next, each->begin)}, arch, candidates);
      next = std::min(end, std::max(next, each->end));
    }
    append_candidates(code, area, {next, std::max(next, end)}, arch, candidates);
  }
  return candidates;
}

}  // namespace

// Folklore. Situation: functions written by hand have no unwind tables, and code that does nothing
// but choose one of them jumps there. Example: jsimd_fdct_float() of libjpeg ends with a jump to
// jsimd_fdct_float_sse. Where there are no tables, such a jump may stay in its function. Remedy:
// what a table delimits is a whole function or a part of one, and its other parts have entries as
// well: a jump out of it to where no table reaches is a tail call.
std::vector<Address> gap_starts(const ElfFile& file, const Architecture& arch,
                                const std::vector<AddressRange>& areas) {
  const Ranges delimited = delimited_by_tables(file);
  if (delimited.empty() || arch.code.features_at_start == nullptr ||
      arch.code.append_direct_jumps == nullptr) {
    return {};
  }
  const std::vector<Address> candidates = candidates_in(file, arch, areas, delimited);
  std::vector<DirectJump> jumps;
  for (const AddressRange& area : areas) {
    const ByteView code = file.at(area.begin);
    const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()));
    if (inside && !candidates.empty()) {
      const AddressRange wanted{candidates.front(), candidates.back() + 1};
      arch.code.append_direct_jumps(*inside, area.begin, wanted, jumps);
    }
  }
  std::vector<Address> starts;
  for (const DirectJump& jump : jumps) {
    if (std::ranges::binary_search(candidates, jump.target) && covers(delimited, jump.source)) {
      starts.push_back(jump.target);
    }
  }
  std::ranges::sort(starts);
  return starts;
}

}  // namespace whocall
