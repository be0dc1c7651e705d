#include "unwind/rows/exidx_rows.h"

#include "object/exidx.h"
#include "unwind/rows/exidx_program.h"

namespace whocall {

const UnwindRow* ExidxRows::row_at(Address runtime) {
  auto found = rows_.find(runtime);
  if (found == rows_.end()) {
    found = rows_.emplace(runtime, make_row(runtime)).first;
  }
  return found->second ? &*found->second : nullptr;
}

std::optional<UnwindRow> ExidxRows::make_row(Address runtime) const {
  const Module* module = process_.module_at(runtime);
  const Exidx* index =
      module != nullptr && module->file != nullptr ? exception_index_of(*module->file) : nullptr;
  const auto entry = index != nullptr ? index->find(module->link_address(runtime)) : std::nullopt;
  auto row = entry ? compile(*entry, *process_.arch) : std::nullopt;
  if (row) {
    row->range = {module->runtime_address(entry->range.begin),
                  module->runtime_address(entry->range.end)};
  }
  return row;
}

}  // namespace whocall
