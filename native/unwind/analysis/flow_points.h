// What the flow through one function knows at the instructions that it reached.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "arch/architecture.h"
#include "unwind/analysis/abstract_state.h"
#include "unwind/analysis/popping_calls.h"
#include "unwind/analysis/suspect_calls.h"

namespace whocall {

// The calls that a path passed and that may turn out to be other than they look.
struct PassedCalls {
  Suspects suspects{};
  UnknownCalls unknown{};
};

struct FlowPoint {
  AbstractState state;
  std::uint16_t size = 0;  // of the instruction, bytes; 0 until the flow has passed it
  bool is_call = false;
  bool guessed = false;  // only guesses lead there
  PassedCalls passed{};
};

// All offsets are below the size of the function's code, in bytes.
class FlowPoints {
 public:
  FlowPoints(const Architecture& arch, std::size_t code_size) : arch_(arch), at_(code_size) {
    points_.reserve(code_size / 4);  // about an instruction each
  }

  void clear();
  // False where it is known already, or where there are too many for any function.
  bool add(std::uint64_t offset, const FlowPoint& point);
  void erase(std::uint64_t offset);
  // The flow passes the instruction at `offset`, which was added before.
  const FlowPoint& pass(std::uint64_t offset, std::uint16_t size, bool is_call);
  // Keeps of the state at `offset` what `state` agrees with. True when something was lost.
  bool merge(std::uint64_t offset, const AbstractState& state);

  // Null where no flow arrived; lives until a point is added or erased.
  [[nodiscard]] const FlowPoint* find(std::uint64_t offset) const {
    return offset < at_.size() && at_[offset] != 0 ? &points_[at_[offset] - 1] : nullptr;
  }
  // Calls visit(offset, point) for all, in ascending order; the points may be moved from.
  template <typename Visit>
  void take(Visit visit) && {
    for (std::uint64_t offset = 0; offset < at_.size(); ++offset) {
      if (at_[offset] != 0) {
        visit(offset, points_[at_[offset] - 1]);
      }
    }
  }
  [[nodiscard]] std::size_t size() const { return points_.size(); }

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
  void discount(std::uint64_t offset, const FlowPoint& point);
  static bool is_more_usual(const Count& one, const Count& other);
  static const Count* usual(const Counts& counts);

  FlowPoint& known(std::uint64_t offset) { return points_[at_[offset] - 1]; }

  const Architecture& arch_;
  std::vector<FlowPoint> points_;
  std::vector<std::uint32_t> at_;  // by offset: the number of a point, counted from 1; 0: none
  std::array<Counts, 2> depths_;   // of other instructions, and of calls
  std::size_t calls_ = 0;
};

}  // namespace whocall
