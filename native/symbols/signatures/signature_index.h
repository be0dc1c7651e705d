// Signatures made ready for comparing them with programs. Immutable, so free to be shared.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "symbols/signatures/signature_set.h"

namespace whocall {

// The bytes that a section is looked for by.
inline constexpr std::uint32_t kSignatureAnchorSize = 8;

class SignatureIndex {
 public:
  explicit SignatureIndex(SignatureSet set);

  [[nodiscard]] const SignatureSet& set() const { return set_; }
  // Bytes of the section's code that are the same wherever it is linked.
  [[nodiscard]] std::span<const FixedBytes> fixed(std::uint32_t section) const {
    return fixed_[section];
  }
  // How many of them tell something: padding and zeros do not.
  [[nodiscard]] std::uint32_t weight(std::uint32_t section) const { return weights_[section]; }

  // Whether linkers put two sections together: of one library, in one group.
  [[nodiscard]] bool stay_together(std::uint32_t left, std::uint32_t right) const {
    const SignatureSection& one = set_.sections[left];
    const SignatureSection& other = set_.sections[right];
    return one.group == other.group &&
           set_.members[one.member].library == set_.members[other.member].library;
  }

  // The symbols that define a name in code; empty when none does.
  [[nodiscard]] std::span<const std::uint32_t> definitions(SignatureText name) const;

  // Whether one of the section's functions begins at this offset.
  [[nodiscard]] bool begins_function(std::uint32_t section, std::uint32_t offset) const;

  // The symbols with names that a section defines.
  [[nodiscard]] std::span<const std::uint32_t> defined_by(std::uint32_t section) const;

  // All sections of a member, ascending.
  [[nodiscard]] std::span<const std::uint32_t> sections_of(std::uint32_t member) const {
    return sections_of_[member];
  }

  // Sections whose anchor has these bytes. `may_be_anchor` is a quick answer, wrong only by saying
  // yes too often.
  [[nodiscard]] bool may_be_anchor(std::uint64_t bytes) const {
    const std::uint64_t bit = slot_of(bytes);
    return (filter_[bit / 64] >> (bit % 64) & 1U) != 0;
  }
  [[nodiscard]] std::span<const std::uint32_t> anchored(std::uint64_t bytes) const;

 private:
  static constexpr unsigned kFilterBits = 19;
  static std::uint64_t slot_of(std::uint64_t bytes) {
    return bytes * 0x9e3779b97f4a7c15U >> (64U - kFilterBits);
  }

  SignatureSet set_;
  std::vector<std::vector<FixedBytes>> fixed_;
  std::vector<std::uint32_t> weights_;
  std::vector<std::vector<std::uint32_t>> sections_of_;  // by member
  std::unordered_map<SignatureText, std::vector<std::uint32_t>> definitions_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> defined_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> anchors_;
  std::vector<std::uint64_t> filter_;
};

}  // namespace whocall
