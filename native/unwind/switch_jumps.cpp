#include "unwind/switch_jumps.h"

#include <utility>

namespace whocall {

void SwitchJumps::clear() {
  states_.clear();
  depths_.clear();
  kinds_.clear();
}

void SwitchJumps::set(std::uint64_t behind, AbstractState state) {
  const AbstractValue sp = state.get(arch_.sp);
  ++depths_[sp.kind][sp.offset];
  ++kinds_[sp.kind];
  const auto [entry, fresh] = states_.try_emplace(behind, std::move(state));
  if (!fresh) {
    const AbstractValue before = entry->second.get(arch_.sp);
    --depths_[before.kind][before.offset];
    --kinds_[before.kind];
    entry->second = std::move(state);
  }
}

bool SwitchJumps::agree() const { return !empty() && disagreeing(first()) == 0; }

bool SwitchJumps::any_like(const AbstractState& state) const {
  return disagreeing(state) < states_.size();
}

std::size_t SwitchJumps::disagreeing(const AbstractState& state) const {
  const AbstractValue sp = state.get(arch_.sp);
  const auto kind = kinds_.find(sp.kind);
  if (!sp.is_address() || kind == kinds_.end()) {
    return 0;
  }
  const auto& offsets = depths_.at(sp.kind);
  const auto same = offsets.find(sp.offset);
  return kind->second - (same == offsets.end() ? 0 : same->second);
}

}  // namespace whocall
