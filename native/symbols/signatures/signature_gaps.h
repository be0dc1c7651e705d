// What lies between two neighbours that were recognised.
#pragma once

#include <array>
#include <map>
#include <set>
#include <vector>

#include "symbols/signatures/signature_evidence.h"
#include "symbols/signatures/signature_places.h"

namespace whocall {

struct AcceptedSection {
  std::uint32_t section = 0;
  Address end = 0;
};
// By the address at which they stand.
using AcceptedSections = std::map<Address, AcceptedSection>;

// The linker puts the sections of a library one behind the other, each at the next address of its
// alignment. So whatever lies between two of them is of that library too, and however short it is:
// when exactly one row of sections fills the room, that row stands there. Of several rows one
// stands out that goes on with the members that the neighbours belong to: their sections stay
// together, in their order.
class SignatureGaps {
 public:
  // Sections in `linked` stand elsewhere. All outlive the object.
  SignatureGaps(const SignatureIndex& index, const SignatureProgram& program,
                const SignatureEvidence& evidence, const std::set<std::uint32_t>& linked);

  [[nodiscard]] std::vector<SignaturePlace> fill(const AcceptedSections& accepted) const;

 private:
  using Row = std::vector<SignaturePlace>;
  struct Search;
  void extend(Search& search, Address at) const;
  void try_sections(Search& search, const std::vector<std::uint32_t>& sections, Address at,
                    Address place) const;
  [[nodiscard]] static const Row* best_of(const Search& search);
  [[nodiscard]] bool is_contradicted(const SignaturePlace& place) const;
  [[nodiscard]] bool are_of_linked_members(const Row& row) const;
  [[nodiscard]] bool goes_on(const Search& search) const;

  const SignatureIndex& index_;
  const SignatureSet& set_;
  const SignatureProgram& program_;
  const SignatureEvidence& evidence_;
  const std::set<std::uint32_t>& linked_;
  std::array<std::vector<std::uint32_t>, 256> by_first_byte_;
  std::vector<std::uint32_t> others_;  // whose first byte is not fixed
};

}  // namespace whocall
