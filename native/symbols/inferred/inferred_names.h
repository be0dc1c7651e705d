// Names that nobody wrote down as the names of functions, but that code and data prove.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "symbols/inferred/inferred_name.h"

namespace whocall {

// What names of one function or more have to be to be looked up: ascending, and of several for one
// function the first.
void put_in_order(std::vector<InferredName>& names);
// The one of the function that starts at `link` among those; null when there is none.
const InferredName* find_name(std::span<const InferredName> names, Address link);

// The names of one file, of all sources in the order of NameSource.
class InferredNames {
 public:
  // Ascending, one for each function.
  explicit InferredNames(std::vector<InferredName> names) : names_(std::move(names)) {}

  // Of the function that starts at `link`; null when it has none.
  [[nodiscard]] const InferredName* at(Address link) const { return find_name(names_, link); }
  // Sorted by function, one for each.
  [[nodiscard]] std::span<const InferredName> all() const { return names_; }

 private:
  std::vector<InferredName> names_;
};

// The same look-up for who asks at ascending addresses.
class InferredNameCursor {
 public:
  // The names must outlive it.
  explicit InferredNameCursor(const InferredNames& names) : rest_(names.all()) {}

  const InferredName* at(Address link) {
    while (!rest_.empty() && rest_.front().function < link) {
      rest_ = rest_.subspan(1);
    }
    return !rest_.empty() && rest_.front().function == link ? rest_.data() : nullptr;
  }

 private:
  std::span<const InferredName> rest_;
};

}  // namespace whocall
