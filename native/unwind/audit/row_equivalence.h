// Whether two descriptions of the same frame agree, told by trying them out.
#pragma once

#include "unwind/analysis/abstract_state.h"
#include "unwind/audit/audit_outcome.h"
#include "unwind/rows/row.h"

namespace whocall {

// Makes up a concrete activation that fits `state` (registers, stack words, a CFA) and stands at
// `pc`, which rows of a PLT compute with, applies the table's row to it and looks whether what the
// state knows comes out. So rules of different form (rbp+16 or rsp+80, an expression or a slot) are
// compared by what they mean.
//
// Both may tell the frame by different registers and still agree. But where the state is a guess,
// that does not confirm the register which our row stands on: such a row differs.
AuditOutcome compare_with_table(const AbstractState& state, const UnwindRow& table, Address pc,
                                const Architecture& arch, AbstractState::Place place = {});

}  // namespace whocall
