#include "symbols/signatures/signature_index.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace whocall {
namespace {

bool tells_something(std::byte byte) {
  return byte != std::byte{0x00} && byte != std::byte{0x90} && byte != std::byte{0xcc};
}

std::uint32_t weight_of(ByteView code, const std::vector<FixedBytes>& fixed) {
  std::uint32_t weight = 0;
  for (const FixedBytes& part : fixed) {
    for (const std::byte byte : code.bytes().subspan(part.begin, part.end - part.begin)) {
      weight += tells_something(byte) ? 1U : 0U;
    }
  }
  return weight;
}

template <typename Map, typename Key>
std::span<const std::uint32_t> found_in(const Map& map, Key key) {
  const auto found = map.find(key);
  return found == map.end() ? std::span<const std::uint32_t>() : std::span(found->second);
}

}  // namespace

SignatureIndex::SignatureIndex(SignatureSet set)
    : set_(std::move(set)),
      sections_of_(set_.members.size()),
      filter_((std::size_t{1} << kFilterBits) / 64) {
  for (std::uint32_t i = 0; i < set_.sections.size(); ++i) {
    const SignatureSection& section = set_.sections[i];
    sections_of_[section.member].push_back(i);
    fixed_.push_back(fixed_bytes(set_, section));
    weights_.push_back(weight_of(set_.code_of(section), fixed_.back()));
    if (section.anchor != kNoSignature) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, set_.bytes.data() + section.code + section.anchor, sizeof(bytes));
      anchors_[bytes].push_back(i);
      filter_[slot_of(bytes) / 64] |= std::uint64_t{1} << (slot_of(bytes) % 64);
    }
  }
  for (std::uint32_t i = 0; i < set_.symbols.size(); ++i) {
    if (set_.symbols[i].name != 0 && set_.symbols[i].section != kNoSignature) {
      definitions_[set_.symbols[i].name].push_back(i);
      defined_[set_.symbols[i].section].push_back(i);
    }
  }
}

std::span<const std::uint32_t> SignatureIndex::definitions(SignatureText name) const {
  return found_in(definitions_, name);
}

bool SignatureIndex::begins_function(std::uint32_t section, std::uint32_t offset) const {
  const SignatureSection& within = set_.sections[section];
  const std::span functions =
      std::span(set_.functions).subspan(within.first_function, within.functions);
  return std::ranges::binary_search(functions, offset, {}, &SignatureFunction::offset);
}

std::span<const std::uint32_t> SignatureIndex::defined_by(std::uint32_t section) const {
  return found_in(defined_, section);
}

std::span<const std::uint32_t> SignatureIndex::anchored(std::uint64_t bytes) const {
  return found_in(anchors_, bytes);
}

}  // namespace whocall
