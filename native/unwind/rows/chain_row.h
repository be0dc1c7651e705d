// The rule that one link of the chain of frames amounts to.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "memory/memory.h"
#include "unwind/rows/activation.h"
#include "unwind/rows/row.h"

namespace whocall {

class ChainRow {
 public:
  explicit ChainRow(const Architecture& arch);
  ChainRow(const ChainRow&) = delete;
  ChainRow& operator=(const ChainRow&) = delete;

  // Null where the ABI has no chain.
  [[nodiscard]] const UnwindRow* get() const { return row_ ? &*row_ : nullptr; }

 private:
  std::deque<std::vector<std::byte>> arena_;  // of the CFA's expression
  std::optional<UnwindRow> row_;
};

// The rule of a frame of which nothing is known but that its return address lies `distance` bytes
// above the stack pointer, and its CFA `to_cfa` bytes above that.
UnwindRow row_of_return_slot(const Architecture& arch, std::int64_t distance, std::int64_t to_cfa);

// The same where the chain's link lies beside it. The link of a frame record tells the caller's
// frame as well, as far as it leads up the stack.
UnwindRow row_of_linked_slot(const Architecture& arch, const Activation& callee,
                             const Memory& memory, std::int64_t distance);

}  // namespace whocall
