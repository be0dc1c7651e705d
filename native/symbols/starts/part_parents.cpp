#include "symbols/starts/part_parents.h"

#include <algorithm>

#include "symbols/table/code_areas.h"

namespace whocall {

PartParents::PartParents(const ElfFile& file, const Architecture& arch,
                         const FunctionStarts& starts)
    : arch_(arch), starts_(starts) {
  AddressRange wanted{~Address{0}, 0};
  std::size_t functions = 0;
  std::size_t aligned = 0;
  for (std::size_t i = 0; i < starts.all().size(); ++i) {
    const FunctionStart& start = starts.all()[i];
    if (!start.evidence.is_function()) {
      const auto range = starts.function_of(i);
      wanted.begin = std::min(wanted.begin, start.address);
      wanted.end = std::max(wanted.end, range ? range->end : 0);
    } else {
      ++functions;
      aligned += start.address % arch.code.function_alignment == 0 ? 1 : 0;
    }
  }
  functions_are_aligned_ = 4 * aligned >= 3 * functions;
  if (wanted.empty() || arch.code.append_direct_jumps == nullptr) {
    return;
  }
  std::vector<DirectJump> jumps;
  for (const AddressRange& area : code_areas(file)) {
    const ByteView code = file.at(area.begin);
    if (const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()))) {
      arch.code.append_direct_jumps(*inside, area.begin, wanted, jumps);
    }
  }
  for (const DirectJump& jump : jumps) {
    const auto from = starts.function_at(jump.source);
    const auto to = starts.function_at(jump.target);
    if (!from || !to || *from == *to || starts.evidence_at(to->begin).is_function()) {
      continue;
    }
    Entries& entries = entries_[to->begin];
    if (std::ranges::find(entries.sources, from->begin) == entries.sources.end()) {
      entries.sources.push_back(from->begin);
    }
    entries.only_at_start = entries.only_at_start && jump.target == to->begin;
  }
}

PartOwner PartParents::owner_of(Address start) const {
  const auto found = entries_.find(start);
  if (found == entries_.end() || starts_.evidence_at(start).is_function()) {
    return {PartKind::function, start};
  }
  const Entries& entries = found->second;
  if (entries.sources.size() != 1) {
    return {entries.only_at_start ? PartKind::function : PartKind::unclear, start};
  }
  return entries.only_at_start && may_be_function(start)
             ? PartOwner{PartKind::unclear, start}
             : PartOwner{PartKind::part, entries.sources.front()};
}

bool PartParents::may_be_function(Address start) const {
  return !functions_are_aligned_ || start % arch_.code.function_alignment == 0;
}

}  // namespace whocall
