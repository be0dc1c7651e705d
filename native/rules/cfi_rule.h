// The rule that call frame instructions give for one address, without rows and without memory.
#pragma once

#include <cstdint>
#include <optional>

#include "rules/frame_description.h"
#include "rules/frame_rule.h"

namespace whocall::rules {

// What of an instruction set's DWARF numbers such a walk needs.
struct FrameRegisters {
  std::uint64_t sp = 0;
  std::uint64_t fp = 0;
  // Where the return address is at a function's start; a miss where calls push it.
  std::optional<std::uint64_t> link{};
};

// Where the CFA or the return address follow from other registers or from expressions (but for
// those that compilers and linkers write everywhere: a word below the frame pointer, and stubs of
// imported functions), `cfa` is none. Of signal frames nothing but that they are.
FrameRule rule_at(const WholeDescription& description, const FrameRegisters& registers,
                  std::uint64_t address);

}  // namespace whocall::rules
