#include "unwind/analysis/pushed_before.h"

#include <algorithm>
#include <optional>

namespace whocall {
namespace {

constexpr std::int64_t kMostPushed = 64;  // bytes

// How far above the word that a call pushes the stack pointer is; a miss where that is not known.
std::optional<std::int64_t> above_return(const AnalysedPoint& point, const Architecture& arch) {
  const AbstractValue sp = point.state.get(arch.registers.sp);
  return sp.kind == AbstractValue::Kind::cfa
             ? std::optional<std::int64_t>(sp.offset + arch.frame.pushed_by_call)
             : std::nullopt;
}

}  // namespace

std::int64_t pushed_before(const FollowedFunction& function, ByteView code,
                           const Architecture& arch, InstructionDecoder& decoder) {
  // Where callees drop arguments, the depth at a return hangs on what is known of them.
  const auto is_above = [&](const AnalysedPoint& point) {
    return above_return(point, arch).value_or(0) > 0;
  };
  if (arch.frame.pushed_by_call == 0 || arch.registers.arguments.empty() ||
      function.points.empty() || std::ranges::none_of(function.points, is_above)) {
    return 0;
  }
  std::optional<std::int64_t> pushed;
  const Address begin = function.points.front().range.begin;
  for (const AnalysedPoint& point : function.points) {
    const auto instruction =
        decoder.decode(code.from(point.range.begin - begin), point.range.begin);
    const auto above = above_return(point, arch);
    const bool jumps_away = instruction && instruction->flow == Instruction::Flow::indirect_jump &&
                            above.value_or(-1) >= 0;  // a switch jumps from farther below
    if (!instruction || (!instruction->returns && !jumps_away)) {
      continue;
    }
    if (!above || *above <= 0 || *above > kMostPushed || *above % arch.registers.size != 0 ||
        pushed.value_or(*above) != *above) {
      return 0;
    }
    pushed = above;
  }
  return pushed.value_or(0);
}

}  // namespace whocall
