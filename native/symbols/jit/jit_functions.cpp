#include "symbols/jit/jit_functions.h"

#include <utility>

namespace whocall {

// A function of which a part was overwritten is gone as a whole: nobody runs the rest.
void JitFunctions::remove(AddressRange range) {
  auto next = by_start_.lower_bound(range.begin);
  if (next != by_start_.begin() && std::prev(next)->second.range.end > range.begin) {
    --next;
  }
  while (next != by_start_.end() && next->first < range.end) {
    next = by_start_.erase(next);
  }
}

void JitFunctions::add(JitFunction function) {
  if (function.range.empty() || function.name.empty()) {
    return;
  }
  remove(function.range);
  const Address start = function.range.begin;
  by_start_.insert_or_assign(start, std::move(function));
}

const JitFunction* JitFunctions::at(Address address) const {
  const auto next = by_start_.upper_bound(address);
  if (next == by_start_.begin()) {
    return nullptr;
  }
  const JitFunction& found = std::prev(next)->second;
  return found.range.contains(address) ? &found : nullptr;
}

}  // namespace whocall
