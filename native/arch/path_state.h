// What code has done to registers and words since some place in it, each as a computation over the
// registers that were there: what following the way back to a caller takes, on any instruction set.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arch/return_path.h"

namespace whocall {

using PathResult = std::optional<PathValue>;  // empty: not known

PathResult plus(PathResult value, std::int64_t amount);
PathResult minus(PathResult left, const PathResult& right);

// Two addresses that are computed differently count as different: what such code stores through
// pointers is no saved register.
class PathState {
 public:
  // Registers from 0 on; those from `count` on are never known.
  explicit PathState(Register count);

  [[nodiscard]] PathResult get(Register number) const;
  void set(Register number, PathResult value);
  [[nodiscard]] PathResult load(PathResult address) const;
  void store(const PathResult& address, const PathResult& value);
  // A call leaves what is in `kept`.
  void after_call(std::span<const Register> kept);
  // Where the code returns now; a miss where the stack pointer is not known.
  [[nodiscard]] std::optional<ReturnPath> leaving(Register sp, Register fp) const;

 private:
  [[nodiscard]] PathResult stored(const PathValue& address) const;

  std::vector<PathResult> registers_;
  std::vector<std::pair<PathValue, PathResult>> stores_;
};

// One way may end in a call that never comes back; two that return have to agree.
std::optional<ReturnPath> agreed(const std::optional<ReturnPath>& straight,
                                 const std::optional<ReturnPath>& taken);

}  // namespace whocall
