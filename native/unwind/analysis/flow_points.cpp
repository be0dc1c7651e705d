#include "unwind/analysis/flow_points.h"

#include <algorithm>
#include <optional>

namespace whocall {
namespace {

// The stack pointer's distance from the CFA, where it is known.
std::optional<std::int32_t> depth_of(const FlowPoint& point, const Architecture& arch) {
  const AbstractValue sp = point.state.get(arch.registers.sp);
  return sp.kind == AbstractValue::Kind::cfa ? std::optional(sp.offset) : std::nullopt;
}

}  // namespace

// Of depths with as many points, the one that has them all first.
bool FlowPoints::is_more_usual(const Count& one, const Count& other) {
  return one.points != other.points ? one.points > other.points : one.last < other.last;
}

void FlowPoints::clear() {
  points_.clear();
  std::ranges::fill(at_, 0);
  depths_ = {};
  calls_ = 0;
}

bool FlowPoints::add(std::uint64_t offset, const FlowPoint& point) {
  constexpr std::size_t kMost = 1U << 18U;  // instructions of the largest function, and some
  if (at_[offset] != 0 || points_.size() >= kMost) {
    return false;
  }
  points_.push_back(point);
  at_[offset] = static_cast<std::uint32_t>(points_.size());
  count(offset, point);
  return true;
}

void FlowPoints::erase(std::uint64_t offset) {
  if (at_[offset] != 0) {
    discount(offset, known(offset));
    at_[offset] = 0;
  }
}

const FlowPoint& FlowPoints::pass(std::uint64_t offset, std::uint16_t size, bool is_call) {
  FlowPoint& point = known(offset);
  point.size = size;
  if (point.is_call != is_call) {
    discount(offset, point);
    point.is_call = is_call;
    count(offset, point);
  }
  return point;
}

bool FlowPoints::merge(std::uint64_t offset, const AbstractState& state) {
  FlowPoint& point = known(offset);
  const bool moves = point.state.get(arch_.registers.sp) != state.get(arch_.registers.sp);
  if (moves) {
    discount(offset, point);
  }
  const bool lost = point.state.merge(state);
  if (moves) {
    count(offset, point);
  }
  return lost;
}

void FlowPoints::count(std::uint64_t offset, const FlowPoint& point) {
  calls_ += point.is_call ? 1U : 0U;
  const auto depth = depth_of(point, arch_);
  if (!depth) {
    return;
  }
  Counts& counts = depths_[point.is_call ? 1 : 0];
  Count& counted = counts.by_depth[*depth];
  ++counted.points;
  counted.last = std::max(counted.last, offset);
  if (counts.most && is_more_usual(counted, counts.by_depth.at(*counts.most))) {
    counts.most = depth;
  }
}

void FlowPoints::discount(std::uint64_t offset, const FlowPoint& point) {
  calls_ -= point.is_call ? 1U : 0U;
  const auto depth = depth_of(point, arch_);
  if (!depth) {
    return;
  }
  Counts& counts = depths_[point.is_call ? 1 : 0];
  if (counts.most == depth) {
    counts.most.reset();
  }
  const auto counted = counts.by_depth.find(*depth);
  if (--counted->second.points == 0) {
    counts.by_depth.erase(counted);
  } else if (counted->second.last == offset) {
    const FlowPoint* before = nullptr;
    do {
      before = find(--offset);
    } while (before == nullptr || before->is_call != point.is_call ||
             depth_of(*before, arch_) != depth);
    counted->second.last = offset;
  }
}

const FlowPoints::Count* FlowPoints::usual(const Counts& counts) {
  if (counts.by_depth.empty()) {
    return nullptr;
  }
  if (!counts.most) {
    const auto best = std::ranges::max_element(counts.by_depth, [](const auto& a, const auto& b) {
      return is_more_usual(b.second, a.second);
    });
    counts.most = best->first;
  }
  return &counts.by_depth.at(*counts.most);
}

AbstractState FlowPoints::usual_state() const {
  const Count* usual = FlowPoints::usual(depths_[calls_ != 0 ? 1 : 0]);
  if (usual == nullptr) {
    return AbstractState(arch_);
  }
  AbstractState state = find(usual->last)->state;
  state.after_call();
  return state;
}

}  // namespace whocall
