#include "unwind/rows/compiled_frames.h"

#include <algorithm>

#include "unwind/rows/fde_rows.h"

namespace whocall {

bool CompiledFrames::add(const CallFrameInfo* info) {
  if (info != nullptr) {
    sections_.push_back({info});
  }
  return info != nullptr;
}

CfiRow CompiledFrames::at(Address runtime) {
  const Address link = runtime - bias_;
  for (Section& section : sections_) {
    if (const auto fde = section.info->find(link)) {
      return row_of(section, *fde, link);
    }
  }
  return {};
}

bool CompiledFrames::covers(Address runtime) const {
  return std::ranges::any_of(sections_, [&](const Section& section) {
    return section.info->find(runtime - bias_).has_value();
  });
}

CfiRow CompiledFrames::row_of(Section& section, const Fde& fde, Address link) const {
  const auto [compiled, fresh] = section.compiled.try_emplace(fde.offset);
  if (fresh) {
    compiled->second = compile(fde);
  }
  CfiRow found{.owner = owner_,
               .function = {fde.range.begin + bias_, fde.range.end + bias_},
               .format = section.info->format()};
  const auto& rows = compiled->second;
  const auto after = std::ranges::upper_bound(rows, link, {},
                                              [](const UnwindRow& row) { return row.range.begin; });
  if (after != rows.begin() && std::prev(after)->range.contains(link)) {
    found.row = &*std::prev(after);
  }
  return found;
}

}  // namespace whocall
