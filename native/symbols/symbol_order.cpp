#include "symbols/symbol_order.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace whocall {
namespace {

bool starts_earlier(const CompactSymbol& left, const CompactSymbol& right) {
  return left.start < right.start;
}

// Deals the records out on buckets by one digit of their distance from `base`, in their order.
// False, and nothing done, when they share the digit.
bool deal_out(std::span<const CompactSymbol> from, std::span<CompactSymbol> to, Address base,
              unsigned shift, unsigned bits) {
  std::vector<std::uint32_t> place(std::size_t{1} << bits);
  const auto digit_of = [=, mask = place.size() - 1](const CompactSymbol& record) {
    return static_cast<std::size_t>((record.start - base) >> shift) & mask;
  };
  for (const CompactSymbol& record : from) {
    ++place[digit_of(record)];
  }
  if (place[digit_of(from.front())] == from.size()) {
    return false;
  }
  std::uint32_t next = 0;
  for (std::uint32_t& count : place) {
    next += std::exchange(count, next);
  }
  for (const CompactSymbol& record : from) {
    to[place[digit_of(record)]++] = record;
  }
  return true;
}

// A radix sort, least significant digit first: as many equal digits as keep the places that a pass
// writes to within what the processor's caches hold. Stable.
void sort_by_start(std::vector<CompactSymbol>& records) {
  if (std::is_sorted(records.begin(), records.end(), starts_earlier)) {
    return;
  }
  constexpr unsigned kMostBits = 11;
  const auto [lowest, highest] =
      std::minmax_element(records.begin(), records.end(), starts_earlier);
  const Address base = lowest->start;
  const auto width = static_cast<unsigned>(std::bit_width(highest->start - base));
  const unsigned passes = (width + kMostBits - 1) / kMostBits;
  const unsigned bits = (width + passes - 1) / passes;
  std::vector<CompactSymbol> other(records.size());
  for (unsigned shift = 0; shift < width; shift += bits) {
    if (deal_out(records, other, base, shift, bits)) {
      records.swap(other);
    }
  }
}

unsigned binding_rank(const Symbol& symbol) { return symbol.weak ? 1 : symbol.global ? 0 : 2; }

// Equal names are mostly the same bytes in the file: no need to compare them.
bool same_name(std::string_view left, std::string_view right) {
  return left.size() == right.size() && (left.data() == right.data() || left == right);
}

bool better(const Symbol& left, const Symbol& right) {
  const auto rank = [](const Symbol& symbol) {
    return std::tuple(symbol.name.empty(), !symbol.exact_end, symbol.source, binding_rank(symbol),
                      symbol.name.size());
  };
  if (rank(left) != rank(right)) {
    return rank(left) < rank(right);
  }
  if (!same_name(left.name, right.name)) {
    return left.name < right.name;
  }
  return left.range.size() > right.range.size();
}

bool by_name_then_rank(const Symbol& left, const Symbol& right) {
  if (left.name.size() != right.name.size()) {
    return left.name.size() < right.name.size();
  }
  return same_name(left.name, right.name) ? better(left, right) : left.name < right.name;
}

// A symbol whose name has been read, once, and what the list keeps of it.
struct Member {
  Symbol symbol;
  CompactSymbol record;
};

// Hands each run of two or more symbols with one start to `arrange`, which may drop some of it.
template <typename Arrange>
void arrange_groups(SymbolList& symbols, Arrange arrange) {
  auto& records = symbols.records();
  std::vector<Member> group;
  auto kept = records.begin();
  for (auto first = records.begin(); first != records.end();) {
    auto last = first + 1;
    while (last != records.end() && last->start == first->start) {
      ++last;
    }
    if (last - first == 1) {
      *kept++ = *first;
    } else {
      group.clear();
      for (auto each = first; each != last; ++each) {
        group.push_back({symbols.expand(*each), *each});
      }
      arrange(group);
      kept = std::transform(group.begin(), group.end(), kept,
                            [](const Member& member) { return member.record; });
    }
    first = last;
  }
  records.erase(kept, records.end());
}

void sort_group(std::vector<Member>& group) { std::ranges::sort(group, better, &Member::symbol); }

}  // namespace

void sort_symbols(SymbolList& symbols) {
  sort_by_start(symbols.records());
  arrange_groups(symbols, sort_group);
}

void drop_repetitions(SymbolList& symbols) {
  arrange_groups(symbols, [](std::vector<Member>& group) {
    std::ranges::sort(group, by_name_then_rank, &Member::symbol);
    group.erase(std::unique(group.begin(), group.end(),
                            [](const Member& left, const Member& right) {
                              return same_name(left.symbol.name, right.symbol.name);
                            }),
                group.end());
    sort_group(group);
  });
}

}  // namespace whocall
