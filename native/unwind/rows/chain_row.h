// The rule that one link of the chain of frames amounts to.
#pragma once

#include <deque>
#include <optional>
#include <vector>

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
// above the stack pointer; `with_link`: and that the chain's link lies beside it.
UnwindRow row_of_return_slot(const Architecture& arch, std::int64_t distance, bool with_link);

// The same where the return address stands in a frame record whose link leads `link` bytes above
// the stack pointer.
UnwindRow row_of_frame_record(const Architecture& arch, std::int64_t distance, std::int64_t link);

}  // namespace whocall
