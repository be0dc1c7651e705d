// The rows that the exception tables of one process give (.ARM.exidx), by address.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "process/process_image.h"
#include "unwind/rows/row.h"

namespace whocall {

class ExidxRows {
 public:
  // The process must outlive the object.
  explicit ExidxRows(const ProcessImage& process) : process_(process) {}

  // The row for `runtime` (pass an activation's lookup_pc), which holds where the function has
  // built its frame. Null where no table has one. Rows live as long as the object.
  const UnwindRow* row_at(Address runtime);

 private:
  [[nodiscard]] std::optional<UnwindRow> make_row(Address runtime) const;

  const ProcessImage& process_;
  std::unordered_map<Address, std::optional<UnwindRow>> rows_;  // by runtime address
};

}  // namespace whocall
