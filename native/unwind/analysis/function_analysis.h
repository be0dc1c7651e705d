// Synthesized CFI: the unwinding rules of a function, computed from its instructions.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "arch/instruction.h"
#include "unwind/analysis/abstract_state.h"
#include "unwind/analysis/function_code.h"
#include "unwind/rows/row.h"

namespace whocall {

// What is known just before one instruction runs.
struct AnalysedPoint {
  AddressRange range;  // of the instruction
  AbstractState state;
  bool is_call = false;
  bool guessed = false;   // how deep the stack is there is a guess
  bool doubtful = false;  // and jumps of different depths may lead there

  // The rule that the state amounts to.
  [[nodiscard]] std::optional<UnwindRow> row(std::deque<std::vector<std::byte>>& arena) const {
    return state.row(arena, {guessed, doubtful, is_call});
  }
};

struct FollowedFunction {
  std::vector<AnalysedPoint> points;  // ascending
  std::vector<FunctionExit> exits;
  bool has_unreached = false;  // no path led to some of the code; how it is entered is a guess
};

// Follows the control flow to every instruction that it reaches, with an abstract stack pointer,
// registers and stack words. All addresses are of the same kind as `function.address`. Ends after a
// number of steps that is bounded by the size of the code; undecodable bytes end a path, not the
// analysis.
FollowedFunction follow_function(const FunctionCode& function, const Architecture& arch,
                                 InstructionDecoder& decoder);

struct AnalysedFunction {
  std::vector<UnwindRow> rows;                     // ascending; gaps where nothing is known
  std::deque<std::vector<std::byte>> expressions;  // rows hold views into these

  [[nodiscard]] const UnwindRow* row_at(Address address) const;
};

// The rules that the points amount to.
AnalysedFunction make_rows(const std::vector<AnalysedPoint>& points);

}  // namespace whocall
