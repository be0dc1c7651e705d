// Rules of functions that call on another stack, by what stands behind the call.
//
// Folklore. Situation: a runtime calls C on a stack of its own, and no table covers the function
// that switches. Example: caml_call_gc of OCaml 5: mov %rsp,8(%r11); mov %r11,%rsp; call; mov
// 8(%rsp),%rsp; where r11 leads is nowhere to be followed from the function's beginning. Remedy:
// what will run behind the call tells where it takes the old stack pointer from, and from there to
// the return it tells where the caller's registers are.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "arch/instruction.h"
#include "process/process_image.h"
#include "unwind/rows/row.h"

namespace whocall {

// The rule for a frame that is to go on at `pc` (runtime), behind a call, should it take its stack
// pointer from memory before it returns; a miss otherwise. Expressions are kept in `arena`.
std::optional<UnwindRow> row_behind_call(Address pc, const ProcessImage& process,
                                         InstructionDecoder& decoder,
                                         std::deque<std::vector<std::byte>>& arena);

}  // namespace whocall
