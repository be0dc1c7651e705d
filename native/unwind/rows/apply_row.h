// The one place where an unwinding rule meets memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "memory/memory.h"
#include "unwind/rows/activation.h"
#include "unwind/rows/row.h"

namespace whocall {

enum class ApplyFailure : std::uint8_t {
  none,
  no_cfa,             // the CFA needs a register or memory that is not known
  outermost,          // the row says that there is no caller (undefined return address)
  no_return_address,  // the word that holds it cannot be read
};

struct AppliedRow {
  ApplyFailure failure = ApplyFailure::none;
  Address cfa = 0;    // valid unless failure is no_cfa
  Activation caller;  // valid when failure is none
};

// The caller's activation by `row`. Registers whose saved copy cannot be read are unknown in the
// caller; only the CFA and the return address are indispensable.
AppliedRow apply_row(const UnwindRow& row, const Activation& callee, const Architecture& arch,
                     const Memory& memory);

// The stack words in which the callee of `row` keeps what its caller had in registers, in the row's
// order; the return address goes by the number of the pc. `cfa` is that of apply_row.
std::vector<SavedWord> saved_words(const UnwindRow& row, const Activation& callee, Address cfa,
                                   const Architecture& arch, const Memory& memory);

}  // namespace whocall
