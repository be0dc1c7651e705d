#include "symbols/external/list_base.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace whocall {
namespace {

constexpr Address kSmallestPage = 0x1000;
constexpr std::size_t kMostDifferences = std::size_t{4} << 20;
constexpr std::size_t kLargestSample = 64;
constexpr std::size_t kSmallestSample = 8;
constexpr std::size_t kLeastVotes = 2;

bool in_code(std::span<const AddressRange> code, Address address) {
  const auto next = std::upper_bound(
      code.begin(), code.end(), address,
      [](Address wanted, const AddressRange& range) { return wanted < range.begin; });
  return next != code.begin() && std::prev(next)->contains(address);
}

class ShiftedLines final : public LineTable {
 public:
  ShiftedLines(std::shared_ptr<const ListedNames> list, Address base)
      : list_(std::move(list)), base_(base) {}
  [[nodiscard]] std::vector<SourceLine> lines_at(Address link) const override {
    return list_->lines->lines_at(link + base_);
  }

 private:
  std::shared_ptr<const ListedNames> list_;
  Address base_;
};

}  // namespace

BaseScore score_base(std::span<const ListedName> names, std::span<const Address> known,
                     std::span<const AddressRange> code, Address base) {
  BaseScore score;
  for (const ListedName& name : names) {
    const Address link = name.address - base;
    if (in_code(code, link)) {
      ++score.in_code;
      score.on_starts += std::binary_search(known.begin(), known.end(), link) ? 1 : 0;
    }
  }
  return score;
}

std::optional<Address> find_base(std::span<const ListedName> names, std::span<const Address> known,
                                 std::span<const AddressRange> code) {
  if (names.empty() || known.empty()) {
    return std::nullopt;
  }
  const std::size_t sample =
      std::clamp(kMostDifferences / known.size(), kSmallestSample, kLargestSample);
  const std::size_t step = std::max<std::size_t>(1, names.size() / sample);
  std::unordered_map<Address, std::size_t> votes;
  for (std::size_t at = 0; at < names.size(); at += step) {
    for (const Address start : known) {
      const Address base = names[at].address - start;
      if (base % kSmallestPage == 0) {
        ++votes[base];
      }
    }
  }
  const auto best =
      std::max_element(votes.begin(), votes.end(), [](const auto& left, const auto& right) {
        return std::pair(left.second, right.first) < std::pair(right.second, left.first);
      });
  if (best == votes.end() || best->second < std::min(kLeastVotes, names.size())) {
    return std::nullopt;
  }
  const BaseScore score = score_base(names, known, code, best->first);
  return 2 * score.on_starts >= score.in_code && score.on_starts >= kLeastVotes
             ? std::optional(best->first)
             : std::nullopt;
}

std::shared_ptr<const LineTable> shifted_lines(std::shared_ptr<const ListedNames> list,
                                               Address base) {
  return std::make_shared<const ShiftedLines>(std::move(list), base);
}

}  // namespace whocall
