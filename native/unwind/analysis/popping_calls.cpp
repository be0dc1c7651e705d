#include "unwind/analysis/popping_calls.h"

namespace whocall {
namespace {

constexpr std::int64_t kMostCalls = 4;  // that one path may have passed

}  // namespace

PoppingCalls::PoppingCalls(const Architecture& arch)
    : arch_(arch),
      callers_push_(arch.registers.arguments.empty() && arch.frame.pushed_by_call != 0) {}

std::int64_t PoppingCalls::popped(std::uint64_t behind) const {
  return popped_.contains(behind) ? arch_.registers.size : 0;
}

std::optional<std::int64_t> PoppingCalls::depth(const AbstractState& state) const {
  const AbstractValue sp = state.get(arch_.registers.sp);
  return callers_push_ && sp.kind == AbstractValue::Kind::cfa
             ? std::optional<std::int64_t>(-sp.offset)
             : std::nullopt;
}

UnknownCalls PoppingCalls::after_call(UnknownCalls before, const AbstractState& state,
                                      std::uint64_t behind) const {
  const auto deep = depth(state);
  if (!deep) {
    return before;
  }
  before.last = behind;
  before.last_aligned = *deep % arch_.abi.call_alignment == 0 ? behind : before.last_aligned;
  return before;
}

bool PoppingCalls::find_at_return(const AbstractState& state, const UnknownCalls& passed) {
  const auto deep = depth(state);
  return deep && *deep > arch_.frame.pushed_by_call &&
         *deep <= arch_.frame.pushed_by_call + kMostCalls * arch_.registers.size && find(passed);
}

bool PoppingCalls::find_where_they_meet(const AbstractState& one, const UnknownCalls& passed_by_one,
                                        const AbstractState& other,
                                        const UnknownCalls& passed_by_other) {
  const auto deep = depth(one);
  const auto deep_too = depth(other);
  if (!deep || !deep_too) {
    return false;
  }
  const std::int64_t more = *deep - *deep_too;
  if (more == arch_.registers.size) {
    return find(passed_by_one);
  }
  return more == -std::int64_t{arch_.registers.size} && find(passed_by_other);
}

bool PoppingCalls::find(const UnknownCalls& passed) {
  const std::uint64_t behind = passed.last_aligned != 0 ? passed.last_aligned : passed.last;
  return behind != 0 && popped_.insert(behind).second;
}

}  // namespace whocall
