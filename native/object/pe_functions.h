// What a PE file of x86-64 tells of its functions: where they lie, and what their prologues do.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "object/pe_headers.h"

namespace whocall {

// A RUNTIME_FUNCTION of .pdata.
struct PeFunction {
  std::uint32_t begin = 0;  // RVA
  std::uint32_t end = 0;
  std::uint32_t info = 0;  // RVA of its UNWIND_INFO
};

// Sorted by address and disjoint: one that overlaps the next ends there.
std::vector<PeFunction> read_pe_functions(const PeBytes& bytes, const PeHeaders& headers);

// An operation of a prologue.
struct PeOperation {
  enum class Kind : std::uint8_t {
    push,      // the register is pushed
    alloc,     // the stack pointer is lowered by `amount`
    set,       // the frame register becomes the stack pointer plus `amount`
    save,      // the register is stored `amount` bytes above the frame's base
    interrupt  // the processor pushed rip, cs, eflags, rsp, ss; and an error code: amount is 8
  };
  std::uint32_t at = 0;  // bytes from the function's beginning to behind the instruction
  Kind kind = Kind::push;
  unsigned reg = 0;  // as instructions number them: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8...
  std::uint64_t amount = 0;
};

// What the function has done where its prologue is over: those parts that it continues (CHAININFO)
// first, in the order of execution. A miss where the information cannot be read whole. `work` is
// taken one from for each operation, and a miss where none is left.
std::optional<std::vector<PeOperation>> read_pe_prologue(const PeBytes& bytes,
                                                         const PeFunction& function,
                                                         std::uint64_t& work);

}  // namespace whocall
