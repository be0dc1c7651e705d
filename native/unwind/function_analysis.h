// Synthesized CFI: the unwinding rules of a function, computed from its instructions.
#pragma once

#include <deque>
#include <vector>

#include "arch/instruction.h"
#include "base/byte_view.h"
#include "unwind/row.h"

namespace whocall {

struct AnalysedFunction {
  std::vector<UnwindRow> rows;                     // ascending; gaps where nothing is known
  std::deque<std::vector<std::byte>> expressions;  // rows hold views into these

  [[nodiscard]] const UnwindRow* row_at(Address address) const;
};

// Follows the control flow from the start of `code`, which stands at `address`, to every
// instruction that it reaches, with an abstract stack pointer, registers and stack words. Rows are
// in the same kind of address as `address`. Ends after a number of steps that is bounded by the
// size of the code; undecodable bytes end a path, not the analysis.
AnalysedFunction analyse_function(ByteView code, Address address, const Architecture& arch,
                                  InstructionDecoder& decoder);

}  // namespace whocall
