#include "unwind/analysis/switch_jumps.h"

namespace whocall {

void SwitchJumps::clear() {
  switches_ = {};
  leaving_ = {};
}

bool SwitchJumps::add(const AbstractState& state, bool computed) {
  const bool leaves = !computed && state.get(sp_) == called_.get(sp_);
  Join& join = leaves ? leaving_ : switches_;
  if (!join.joined) {
    join.joined = state;
    return &join == &joined();
  }
  join.agree = join.agree && join.joined->get(sp_) == state.get(sp_);
  return join.joined->merge(state) && &join == &joined();
}

bool SwitchJumps::agree() const {
  return !empty() && joined().agree && at_targets().get(sp_).is_address();
}

}  // namespace whocall
