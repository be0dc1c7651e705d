// What places that were recognised say about where the names of the libraries lie.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "symbols/signatures/signature_places.h"

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

  [[nodiscard]] const SignatureIndex& index() const { return index_; }

  // Where the place that has the name stands or, without one, the address on which more than half
  // of those who speak of it agree.
  [[nodiscard]] std::optional<Address> address_of(SignatureText name) const;

  struct Agreement {
    std::uint32_t same = 0;    // references that lead where other places say that their name lies
    std::uint32_t hidden = 0;  // of these, those to names that only the library itself can use
    std::uint32_t other = 0;   // references that lead elsewhere, and names of its own that do
  };
  [[nodiscard]] Agreement agreement(const SignaturePlace& place,
                                    const std::vector<SignatureReference>& references) const;

  // Whether the function of that name chooses another one (STT_GNU_IFUNC).
  [[nodiscard]] bool is_indirect(SignatureText name) const;

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

  const SignatureIndex& index_;
  std::unordered_map<SignatureText, std::vector<Vote>> votes_;
  std::unordered_map<SignatureText, Address> defined_;
  std::map<Address, std::uint32_t> sections_;  // by where they stand
};

// Whether all code that the references of a place name, and that the libraries have, stands where
// they lead, and some of what it calls is known at all.
// Folklore. Situation: functions that differ in what they call only. Example: where a library is
// not quite the one that the program was linked with, strcpy's choice among its variants looks like
// that of strcat. Remedy: what is called has to be what the name says.
bool calls_are_proved(const SignatureProgram& program, const SignatureEvidence& evidence,
                      const std::vector<SignatureReference>& references);

}  // namespace whocall
