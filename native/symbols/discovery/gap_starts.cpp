#include "symbols/discovery/gap_starts.h"

#include <algorithm>

#include "base/interrupt.h"
#include "object/mini_debug_info.h"
#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

using Ranges = std::vector<AddressRange>;  // ascending, apart from each other

bool covers(const Ranges& ranges, Address address) {
  const auto after = std::ranges::upper_bound(ranges, address, {}, &AddressRange::begin);
  return after != ranges.begin() && std::prev(after)->contains(address);
}

// From the first to the last address outside all tables at which a function may begin.
AddressRange wide_gap(const ElfFile& file, const Architecture& arch, const Ranges& areas,
                      const Ranges& delimited) {
  const Address step = arch.code.function_alignment;
  AddressRange found;
  const auto add = [&](Address begin, Address end) {
    begin += (step - begin % step) % step;
    if (begin < end) {
      found = {found.empty() ? begin : found.begin, std::max(found.end, end)};
    }
  };
  for (const AddressRange& area : areas) {
    // A damaged file tells of more code than it has.
    const Address end =
        area.begin + std::min<std::uint64_t>(area.size(), file.at(area.begin).size());
    Address next = area.begin;
    const auto first = std::ranges::lower_bound(delimited, area.begin, {}, &AddressRange::end);
    for (auto each = first; each != delimited.end() && each->begin < end; ++each) {
      add(next, each->begin);
      next = std::min(end, std::max(next, each->end));
    }
    add(next, end);
  }
  return found;
}

// Whether a function may begin there: an aligned address behind a return, a jump or padding.
bool may_begin(ByteView code, const AddressRange& area, Address target, const Architecture& arch) {
  if (target % arch.code.function_alignment != 0 || target - area.begin >= code.size()) {
    return false;
  }
  const StartFeatures features = arch.code.features_at_start(code, target - area.begin);
  return features.behind_end && !features.catches;
}

}  // namespace

std::vector<AddressRange> ranges_of_tables(const ElfFile& file) {
  Ranges ranges;
  for (const CallFrameInfo* info : frame_tables_of(file)) {
    if (info != nullptr) {
      const Ranges found = info->ranges();
      ranges.insert(ranges.end(), found.begin(), found.end());
    }
  }
  return united(std::move(ranges));
}

bool begins_gap(const std::vector<AddressRange>& delimited, Address address) {
  const auto after = std::ranges::upper_bound(delimited, address, {}, &AddressRange::begin);
  return after != delimited.begin() && std::prev(after)->end == address;
}

// Folklore. Situation: functions written by hand have no unwind tables, and code that does nothing
// but choose one of them jumps there. Example: jsimd_fdct_float() of libjpeg ends with a jump to
// jsimd_fdct_float_sse. Where there are no tables, such a jump may stay in its function. Remedy:
// what a table delimits is a whole function or a part of one, and its other parts have entries as
// well: a jump out of it to where no table reaches is a tail call.
std::vector<Address> gap_starts(const ElfFile& file, const Architecture& arch,
                                const std::vector<AddressRange>& areas,
                                const std::vector<AddressRange>& delimited) {
  if (delimited.empty() || arch.code.features_at_start == nullptr ||
      arch.code.append_direct_jumps == nullptr) {
    return {};
  }
  const AddressRange wanted = wide_gap(file, arch, areas, delimited);
  std::vector<DirectJump> jumps;
  for (const AddressRange& area : areas) {
    const ByteView code = file.at(area.begin);
    const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()));
    if (inside && !wanted.empty()) {
      arch.code.append_direct_jumps(*inside, area.begin, wanted, jumps);
    }
  }
  std::erase_if(jumps, [&](const DirectJump& jump) {
    return covers(delimited, jump.target) || !covers(delimited, jump.source);
  });
  std::ranges::sort(jumps, {}, &DirectJump::target);
  const auto same = [](const DirectJump& a, const DirectJump& b) { return a.target == b.target; };
  jumps.erase(std::unique(jumps.begin(), jumps.end(), same), jumps.end());
  std::vector<Address> starts;
  for (const DirectJump& jump : jumps) {
    check_interrupt_at(starts.size(), kManyEntries);
    const auto area = std::ranges::find_if(
        areas, [&](const AddressRange& each) { return each.contains(jump.target); });
    if (area != areas.end() && may_begin(file.at(area->begin), *area, jump.target, arch)) {
      starts.push_back(jump.target);
    }
  }
  return starts;
}

}  // namespace whocall
