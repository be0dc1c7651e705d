#include "symbols/function_starts.h"

#include <algorithm>

#include "symbols/code_areas.h"

namespace whocall {
namespace {

void sort_distinct(std::vector<Address>& addresses) {
  std::ranges::sort(addresses);
  addresses.erase(std::ranges::unique(addresses).begin(), addresses.end());
}

}  // namespace

FunctionStarts::FunctionStarts(const ElfFile& file, const Architecture& arch,
                               const SymbolTable& symbols)
    : areas_(code_areas(file)) {
  called_.push_back(file.entry());
  for (const AddressRange& area : areas_) {
    const ByteView code = file.at(area.begin);
    if (const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()))) {
      arch.append_call_targets(*inside, area.begin, called_);
    }
  }
  for (const Symbol& symbol : symbols.symbols()) {
    (symbol.name.empty() ? starts_ : called_).push_back(symbol.range.begin);
  }
  for (const AddressRange& area : areas_) {
    starts_.push_back(area.begin);
  }
  sort_distinct(called_);
  starts_.insert(starts_.end(), called_.begin(), called_.end());
  sort_distinct(starts_);
}

bool FunctionStarts::is_called(Address link) const {
  return std::ranges::binary_search(called_, link);
}

std::optional<AddressRange> FunctionStarts::function_at(Address link) const {
  const auto area = std::ranges::find_if(
      areas_, [&](const AddressRange& candidate) { return candidate.contains(link); });
  if (area == areas_.end()) {
    return std::nullopt;
  }
  const auto next = std::ranges::upper_bound(starts_, link);
  if (next == starts_.begin()) {
    return std::nullopt;
  }
  return AddressRange{*std::prev(next),
                      next == starts_.end() ? area->end : std::min(*next, area->end)};
}

}  // namespace whocall
