// What places that were recognised say about where the names of the libraries lie.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "symbols/signature_places.h"

namespace whocall {

// One place speaks once for each name, however often it refers to it.
class SignatureEvidence {
 public:
  explicit SignatureEvidence(const SignatureIndex& index) : index_(index) {}

  // The references of one place.
  void add(const std::vector<SignatureReference>& references);
  // What a place has itself: its names, and nothing else where it stands.
  void define(const SignaturePlace& place);
  void clear() { votes_.clear(); }

  // Where the place that has the name stands or, without one, the address on which more than half
  // of those who speak of it agree.
  [[nodiscard]] std::optional<Address> address_of(SignatureText name) const;

  struct Agreement {
    std::uint32_t same = 0;    // references that lead where other places say that their name lies
    std::uint32_t hidden = 0;  // of these, those to names that only the library itself can use
    std::uint32_t other = 0;  // references that lead elsewhere, and names of its own that do
  };
  [[nodiscard]] Agreement agreement(const SignaturePlace& place,
                                    const std::vector<SignatureReference>& references) const;

  struct NamedPlace {
    SignatureText name = 0;
    Address address = 0;
    std::uint32_t voices = 0;
    bool is_code = false;  // it is called, or jumped to
  };
  // Whether others than the place itself, whose references these are, refer to a name that it has.
  [[nodiscard]] bool is_called(const SignaturePlace& place,
                               const std::vector<SignatureReference>& references) const;

  // All names on whose address there is agreement, in the order of their places in the set.
  [[nodiscard]] std::vector<NamedPlace> named_places() const;

 private:
  struct Vote {
    Address address = 0;
    std::uint32_t voices = 0;
    bool is_code = false;
  };
  [[nodiscard]] const Vote* winner(const std::vector<Vote>& votes) const;
  [[nodiscard]] bool is_another(const SignatureSymbol& symbol, Address target) const;
  void vote(SignatureText name, Address address, bool is_code);
  [[nodiscard]] bool is_indirect(SignatureText name) const;

  const SignatureIndex& index_;
  std::unordered_map<SignatureText, std::vector<Vote>> votes_;
  std::unordered_map<SignatureText, Address> defined_;
  std::map<Address, std::uint32_t> sections_;  // by where they stand
};

}  // namespace whocall
