// What the flow through one function knows at the instructions that it reached.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "arch/architecture.h"
#include "unwind/abstract_state.h"
#include "unwind/suspect_calls.h"

namespace whocall {

struct FlowPoint {
  AbstractState state;
  std::uint8_t size = 0;  // of the instruction, bytes; 0 until the flow has passed it
  bool is_call = false;
  bool guessed = false;  // only guesses lead there
  Suspects suspects{};
};

class FlowPoints {
 public:
  using Map = std::map<std::uint64_t, FlowPoint>;  // by offset in the function, bytes

  explicit FlowPoints(const Architecture& arch) : arch_(arch) {}

  void clear();
  void add(std::uint64_t offset, const FlowPoint& point);
  void erase(std::uint64_t offset);
  // The flow passes the instruction at `offset`, which was added before.
  const FlowPoint& pass(std::uint64_t offset, std::uint8_t size, bool is_call);
  // Keeps of the state at `offset` what `state` agrees with. True when something was lost.
  bool merge(std::uint64_t offset, const AbstractState& state);

  // Null where no flow arrived; lives until the point is erased.
  [[nodiscard]] const FlowPoint* find(std::uint64_t offset) const;
  [[nodiscard]] bool contains(std::uint64_t offset) const { return points_.contains(offset); }
  [[nodiscard]] Map take() && { return std::move(points_); }

  // The state behind a call at a point whose stack pointer is the one that most calls have, or else
  // most points: how deep code runs that no path leads to. Asked once for each such piece of code,
  // of which a megabyte can have 100,000: so depths are counted as they come and go.
  [[nodiscard]] AbstractState usual_state() const;

 private:
  struct Count {
    std::size_t points = 0;
    std::uint64_t last = 0;  // the highest offset of them
  };
  struct Counts {
    std::map<std::int32_t, Count> by_depth;    // the stack pointer's distance from the CFA
    mutable std::optional<std::int32_t> most;  // the usual depth, while it is known
  };

  void count(std::uint64_t offset, const FlowPoint& point);
  void discount(Map::const_iterator entry);
  static bool is_more_usual(const Count& one, const Count& other);
  static const Count* usual(const Counts& counts);

  const Architecture& arch_;
  Map points_;
  std::array<Counts, 2> depths_;  // of other instructions, and of calls
  std::size_t calls_ = 0;
};

}  // namespace whocall
