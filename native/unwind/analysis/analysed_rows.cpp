// The rows of an analysed function: made of what is known at its points, found by address.
#include <algorithm>
#include <iterator>
#include <utility>

#include "unwind/analysis/function_analysis.h"

namespace whocall {

const UnwindRow* AnalysedFunction::row_at(Address address) const {
  const auto after = std::ranges::upper_bound(rows, address, {},
                                              [](const UnwindRow& row) { return row.range.begin; });
  return after != rows.begin() && std::prev(after)->range.contains(address) ? &*std::prev(after)
                                                                            : nullptr;
}

AnalysedFunction make_rows(const std::vector<AnalysedPoint>& points) {
  AnalysedFunction result;
  for (const AnalysedPoint& point : points) {
    if (auto row = point.row(result.expressions)) {
      row->range = point.range;
      result.rows.push_back(std::move(*row));
    }
  }
  return result;
}

}  // namespace whocall
