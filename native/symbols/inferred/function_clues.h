// Whether a source of inferred names may have one for a function: what can be said without looking
// through the file.
#pragma once

#include <optional>
#include <vector>

#include "symbols/inferred/inferred_name.h"

namespace whocall {

// Link addresses throughout. A "no" is certain: looking through the whole file finds no name of
// that kind. A "yes" promises nothing.
class FunctionClues {
 public:
  explicit FunctionClues(const NameEvidence& evidence);

  // Whether a word of the data points to it, as slots of virtual tables and of arrays do. The first
  // question costs a look at all relocations.
  bool is_pointed_to(Address function);
  // Whether it, or a part of it that lies elsewhere, takes the address of a text that may name a
  // function or a source file.
  bool takes_texts(Address function);
  // Whether it may be a part of another.
  bool may_be_part(Address function);

 private:
  [[nodiscard]] const AddressRange* area_of(Address address) const;
  [[nodiscard]] bool takes_texts(const AddressRange& area, Address start) const;
  [[nodiscard]] std::vector<Address> parts_of(const AddressRange& area, Address function) const;
  [[nodiscard]] AddressRange range_of(const AddressRange& area, Address start) const;
  [[nodiscard]] std::optional<Address> part_around(Address address) const;

  const NameEvidence& evidence_;
  std::vector<AddressRange> areas_;              // code
  std::vector<Address> part_starts_;             // of sections and the like, ascending
  std::optional<std::vector<Address>> pointed_;  // code that words point to, ascending
};

}  // namespace whocall
