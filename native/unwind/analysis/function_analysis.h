// Synthesized CFI: the unwinding rules of a function, computed from its instructions.
#pragma once

#include <bitset>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "arch/instruction.h"
#include "base/byte_view.h"
#include "object/exception_table.h"
#include "unwind/analysis/abstract_state.h"
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

// A way out of the function that is no return: to its cold part, or a tail call.
struct FunctionExit {
  Address target = 0;
  AbstractState state;
  bool guessed = false;  // the way to it begins in code that no path reaches
};

struct FollowedFunction {
  std::vector<AnalysedPoint> points;  // ascending
  std::vector<FunctionExit> exits;
  bool has_unreached = false;  // no path led to some of the code; how it is entered is a guess
};

struct FunctionCode {
  ByteView code;
  Address address = 0;  // of the first byte of `code`
  // Where the flow enters, and how; empty: at `address`, as a call does.
  std::vector<FunctionExit> entries{};
  // Where execution goes on when a call of the function throws; sorted by the calls.
  std::vector<LandingPad> landing_pads{};
  // The bounds come from a table, so no function of its own hides in the code.
  bool exact_bounds = false;
  // Whether a call to this address never comes back; may be empty.
  std::function<bool(Address)> never_returns{};
  // Which registers a call to this address writes at the most; may be empty or not know.
  std::function<std::optional<std::bitset<kRegisterLimit>>(Address)> written_by{};
  // How many bytes of arguments a call to this address drops; may be empty or not know.
  std::function<std::optional<std::int64_t>(Address)> popped_by{};
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
