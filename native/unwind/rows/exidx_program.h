// The unwinding instructions of .ARM.exidx compiled to a row.
#pragma once

#include <optional>

#include "arch/architecture.h"
#include "object/exidx.h"
#include "unwind/rows/row.h"

namespace whocall {

// The rule that holds where a function of `arch` has built its whole frame, at all its calls; its
// range is that of the entry. A miss where the entry has no instructions, and where these refuse,
// are spare or say what no row can. They are those of section 10.3 of EHABI, one list for a
// function: where in it the prologue ends and an epilogue begins nobody tells.
std::optional<UnwindRow> compile(const ExidxEntry& entry, const Architecture& arch);

}  // namespace whocall
