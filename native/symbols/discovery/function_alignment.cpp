#include "symbols/discovery/function_alignment.h"

#include <algorithm>

namespace whocall {

FunctionAlignment::Share FunctionAlignment::around(Address place) const {
  constexpr std::size_t kAsked = 64;
  const auto next = std::ranges::lower_bound(functions_, place);
  const auto at = static_cast<std::size_t>(next - functions_.begin());
  const std::size_t begin = at > kAsked / 2 ? at - kAsked / 2 : 0;
  const std::size_t end = std::min(begin + kAsked, functions_.size());
  const std::size_t first = end > kAsked ? std::min(begin, end - kAsked) : 0;
  return {aligned_[end] - aligned_[first], end - first};
}

}  // namespace whocall
