#include "unwind/flow_points.h"

#include <algorithm>

namespace whocall {

AbstractState usual_state(const FlowPoints& points, const Architecture& arch) {
  std::map<std::int32_t, std::size_t> depths;
  const FlowPoint* usual = nullptr;
  std::size_t most = 0;
  const bool calls =
      std::ranges::any_of(points, [](const auto& entry) { return entry.second.is_call; });
  for (const auto& [offset, point] : points) {
    const AbstractValue sp = point.state.get(arch.sp);
    if (point.is_call == calls && sp.kind == AbstractValue::Kind::cfa &&
        ++depths[sp.offset] > most) {
      most = depths[sp.offset];
      usual = &point;
    }
  }
  if (usual == nullptr) {
    return AbstractState(arch);
  }
  AbstractState state = usual->state;
  state.after_call();
  return state;
}

}  // namespace whocall
