#include "symbols/flirt/flirt_index.h"

#include <algorithm>
#include <array>
#include <utility>

namespace whocall {
namespace {

// What stands at a place of a pattern besides a byte. Patterns are sorted by these numbers.
constexpr int kNothing = -2;  // it has ended
constexpr int kAnything = -1;

constexpr std::ptrdiff_t kFew = 8;  // patterns that are compared one by one

constexpr std::array<std::uint16_t, 256> sum_table() {
  constexpr std::uint16_t kPolynomial = 0x8408;  // x^16 + x^12 + x^5 + 1, lowest bit first
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned rest = byte;
    for (unsigned bit = 0; bit < 8; ++bit) {
      rest = (rest & 1U) != 0 ? rest >> 1U ^ kPolynomial : rest >> 1U;
    }
    table[byte] = static_cast<std::uint16_t>(rest);
  }
  return table;
}

}  // namespace

std::uint16_t flirt_sum(std::span<const std::byte> bytes) {
  static constexpr auto kTable = sum_table();
  if (bytes.empty()) {
    return 0;
  }
  unsigned sum = 0xffff;
  for (const std::byte byte : bytes) {
    sum = sum >> 8U ^ kTable[(sum ^ std::to_integer<unsigned>(byte)) & 0xffU];
  }
  sum = ~sum & 0xffffU;
  return static_cast<std::uint16_t>(sum << 8U | sum >> 8U);
}

FlirtIndex::FlirtIndex(FlirtSet set) : set_(std::move(set)) {
  for (std::uint32_t i = 0; i < set_.patterns.size(); ++i) {
    const FlirtPattern& pattern = set_.patterns[i];
    const std::uint64_t all =
        pattern.size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << pattern.size) - 1;
    if (pattern.varies != all) {
      sorted_.push_back(i);
    }
  }
  std::ranges::sort(sorted_, [this](std::uint32_t a, std::uint32_t b) {
    for (std::size_t at = 0; at <= kLongestFlirtPattern; ++at) {
      const int one = symbol(a, at);
      const int other = symbol(b, at);
      if (one != other || one == kNothing) {
        return one < other;
      }
    }
    return false;
  });
}

int FlirtIndex::symbol(std::uint32_t pattern, std::size_t at) const {
  const FlirtPattern& each = set_.patterns[pattern];
  if (at >= each.size) {
    return kNothing;
  }
  return (each.varies >> at & 1U) != 0 ? kAnything
                                       : std::to_integer<int>(set_.bytes[each.bytes + at]);
}

// Goes down the patterns as down a tree: those that are the same up to here stand together.
struct FlirtIndex::Search {
  const FlirtIndex& index;
  std::span<const std::byte> code;
  std::vector<std::uint32_t>& found;
  std::uint64_t& work;

  using Place = std::vector<std::uint32_t>::const_iterator;

  [[nodiscard]] bool fits(std::uint32_t pattern, std::size_t at) const {
    for (; at <= kLongestFlirtPattern; ++at) {
      ++work;
      const int wanted = index.symbol(pattern, at);
      if (wanted == kNothing) {
        return true;
      }
      if (at >= code.size() || (wanted != kAnything && wanted != std::to_integer<int>(code[at]))) {
        return false;
      }
    }
    return true;
  }

  // The patterns [first, last) are the same, and what the code has, before `at`.
  void descend(Place first, Place last, std::size_t at) const {
    if (found.size() > kMost) {
      return;
    }
    if (last - first <= kFew) {
      std::copy_if(first, last, std::back_inserter(found),
                   [&](std::uint32_t pattern) { return fits(pattern, at); });
      return;
    }
    const auto from = [&](int symbol) {
      return std::partition_point(
          first, last, [&](std::uint32_t each) { return index.symbol(each, at) < symbol; });
    };
    work += kFew;
    const auto anything = from(kAnything);
    found.insert(found.end(), first, first + std::min<std::ptrdiff_t>(anything - first, kMost + 1));
    if (at >= code.size()) {
      return;
    }
    const int byte = std::to_integer<int>(code[at]);
    descend(anything, from(0), at + 1);
    descend(from(byte), from(byte + 1), at + 1);
  }
};

void FlirtIndex::find(std::span<const std::byte> code, std::vector<std::uint32_t>& found,
                      std::uint64_t& work) const {
  Search{*this, code, found, work}.descend(sorted_.begin(), sorted_.end(), 0);
}

}  // namespace whocall
