#include "symbols/inferred/inferred_names.h"

#include <algorithm>

namespace whocall {

void put_in_order(std::vector<InferredName>& names) {
  std::ranges::stable_sort(names, {}, &InferredName::function);
  const auto is_same = [](const InferredName& left, const InferredName& right) {
    return left.function == right.function;
  };
  names.erase(std::unique(names.begin(), names.end(), is_same), names.end());
}

const InferredName* find_name(std::span<const InferredName> names, Address link) {
  const auto found = std::ranges::lower_bound(names, link, {}, &InferredName::function);
  return found != names.end() && found->function == link ? &*found : nullptr;
}

}  // namespace whocall
