// Rules of functions that call on another stack, by what stands behind the call.
//
// Folklore. Situation: a runtime calls C on a stack of its own, and no table covers the function
// that switches. Example: caml_call_gc of OCaml 5: mov %rsp,8(%r11); mov %r11,%rsp; call; mov
// 8(%rsp),%rsp; where r11 leads is nowhere to be followed from the function's beginning. Remedy:
// what will run behind the call tells where it takes the old stack pointer from, and from there to
// the return it tells where the caller's registers are.
//
// And of code that no file holds, where it is a guess where functions begin, by the way out: the
// stack pointer with which the code comes to its return tells where the return address lies.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
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

// The rule for a frame that is at `pc` (runtime), by the first way that leads from there to a
// return; a miss where none is found, or the stack pointer is not counted from a register there.
// Functions of which `never_returns` says so are not passed. Adds to `followed` the bytes of code
// that were looked at.
std::optional<UnwindRow> row_to_return(Address pc, const ProcessImage& process,
                                       InstructionDecoder& decoder,
                                       const std::function<bool(Address)>& never_returns,
                                       std::deque<std::vector<std::byte>>& arena,
                                       std::uint64_t& followed);

}  // namespace whocall
