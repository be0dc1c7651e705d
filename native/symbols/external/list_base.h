// With which base address a list of names fits a file.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/address.h"
#include "symbols/external/listed_names.h"

namespace whocall {

struct BaseScore {
  std::size_t in_code = 0;    // names that lie in code when the base is taken off
  std::size_t on_starts = 0;  // of these, on known starts of functions
};

// `known` and `code` are ascending link addresses.
BaseScore score_base(std::span<const ListedName> names, std::span<const Address> known,
                     std::span<const AddressRange> code, Address base);

// The base, a multiple of a page's size, with which most names stand where functions begin; a miss
// when with none half of them do. Looks at the differences between a sample of the names and all
// known starts.
std::optional<Address> find_base(std::span<const ListedName> names, std::span<const Address> known,
                                 std::span<const AddressRange> code);

// The lines of a list at link addresses; they keep the list alive.
std::shared_ptr<const LineTable> shifted_lines(std::shared_ptr<const ListedNames> list,
                                               Address base);

}  // namespace whocall
