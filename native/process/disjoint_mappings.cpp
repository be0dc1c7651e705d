#include "process/disjoint_mappings.h"

#include <algorithm>

namespace whocall {

void make_disjoint(std::vector<Mapping>& mappings) {
  std::ranges::stable_sort(mappings, {}, [](const Mapping& m) { return m.range.begin; });
  Address end = 0;
  for (Mapping& mapping : mappings) {
    const Address begin = std::max(mapping.range.begin, end);
    mapping.offset += mapping.path.empty() ? 0 : begin - mapping.range.begin;
    mapping.range.begin = begin;
    end = std::max(end, mapping.range.end);
  }
  std::erase_if(mappings, [](const Mapping& mapping) { return mapping.range.empty(); });
}

}  // namespace whocall
