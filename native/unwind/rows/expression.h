// DWARF expressions, as far as unwind rules use them (DWARF 5, section 2.5).
#pragma once

#include <cstdint>
#include <optional>

#include "arch/architecture.h"
#include "base/byte_view.h"
#include "memory/memory.h"

namespace whocall {

struct ExpressionInput {
  const Architecture& arch;
  const Registers& registers;
  const Memory& memory;
  std::optional<Address> initial;  // pushed first: the CFA, for register rules
};

// The value on top of the stack at the end. A miss when the expression is malformed, uses an
// operation that has no meaning in unwind rules, needs a register or memory that is not known, or
// runs longer than any sane rule (so that a loop in it ends).
std::optional<std::uint64_t> evaluate(ByteView expression, const ExpressionInput& input);

}  // namespace whocall
