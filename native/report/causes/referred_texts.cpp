#include "report/causes/referred_texts.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "process/process_image.h"

namespace whocall {
namespace {

constexpr Address kFourGiB = Address{1} << 32U;

// The code of a frame's function as far as it is looked at; empty where none is known.
AddressRange code_of(const FrameFacts& facts) {
  const auto offset = facts.offset();
  if (facts.named().inlined() || !offset || *offset >= kLargestSpeaker) {
    return {};
  }
  const Address begin = facts.frame().pc - *offset;
  const Address told = facts.named().place->function->size;
  const Address size = std::min<Address>(told != 0 ? told : *offset, kLargestSpeaker);
  return {.begin = begin, .end = begin + size};
}

// The addresses in the function's own file that its code may name, each once.
std::vector<Address> named_addresses(const Scene& scene, const FrameFacts& facts) {
  std::vector<Address> found;
  const AddressRange range = code_of(facts);
  const Module* owner = facts.owner();
  if (range.empty() || owner == nullptr || scene.arch().code.append_named_addresses == nullptr) {
    return found;
  }
  std::vector<std::byte> room;
  const auto bytes = scene.image().memory->bytes_at(range.begin, range.size(), room);
  // Code at higher addresses names none outright: numbers in it are no addresses.
  const bool fixed = owner->range.end <= kFourGiB;
  scene.arch().code.append_named_addresses(ByteView(bytes, scene.arch().abi.endian), range.begin,
                                           {}, fixed, owner->range, found);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Whether memory is mapped there that is the program's data and that it may not write.
bool is_constant(const Scene& scene, Address address) {
  const Mapping* mapping = scene.image().mapping_at(address);
  return mapping != nullptr && mapping->readable && !mapping->writable;
}

class TextsAt {
 public:
  TextsAt(const Scene& scene, std::span<const std::string> wanted)
      : scene_(scene), wanted_(wanted) {
    for (const std::string& text : wanted) {
      longest_ = std::max(longest_, text.size());
    }
  }

  // The number of the first that stands there; how many there are where none does.
  [[nodiscard]] std::size_t at(Address address) {
    if (!is_constant(scene_, address)) {
      return wanted_.size();
    }
    const auto held = scene_.image().memory->bytes_at(address, longest_, room_);
    const auto begins = [&](const std::string& text) {
      return text.size() <= held.size() && std::memcmp(held.data(), text.data(), text.size()) == 0;
    };
    return static_cast<std::size_t>(std::ranges::find_if(wanted_, begins) - wanted_.begin());
  }

 private:
  const Scene& scene_;
  std::span<const std::string> wanted_;
  std::size_t longest_ = 0;
  std::vector<std::byte> room_;
};

}  // namespace

std::optional<std::size_t> referred_text(const Scene& scene, std::size_t level,
                                         std::span<const std::string> wanted) {
  const auto facts = scene.frame(level);
  if (!facts) {
    return std::nullopt;
  }
  TextsAt texts(scene, wanted);
  std::size_t first = wanted.size();
  for (const Address named : named_addresses(scene, *facts)) {
    const auto pointed = scene.word_at(named);
    first = std::min({first, texts.at(named), pointed ? texts.at(*pointed) : first});
  }
  return first < wanted.size() ? std::optional(first) : std::nullopt;
}

}  // namespace whocall
