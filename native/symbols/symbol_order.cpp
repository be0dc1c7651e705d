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

using Records = std::span<CompactSymbol>;

bool starts_earlier(const CompactSymbol& left, const CompactSymbol& right) {
  return left.start < right.start;
}

// About eight symbols a bucket, two buckets at least, and no more than the processor's cache holds
// counters for.
std::size_t bucket_count(std::size_t symbols) {
  constexpr std::size_t kMost = std::size_t{1} << 16;
  return std::min(std::bit_ceil(symbols / 8 + 2), kMost);
}

// The "American flag sort" of McIlroy, Bostic and McIlroy ("Engineering Radix Sort", 1993), one
// digit of it: counts what belongs in each bucket, then swaps every symbol into the next free place
// of its bucket. What the buckets leave to do is next to nothing, unless addresses lie in clusters
// far apart: then it is an ordinary sort.
void sort_by_start(Records records) {
  if (std::is_sorted(records.begin(), records.end(), starts_earlier)) {
    return;
  }
  const auto [lowest, highest] =
      std::minmax_element(records.begin(), records.end(), starts_earlier);
  const Address base = lowest->start;
  const std::size_t buckets = bucket_count(records.size());
  unsigned shift = 0;
  while (((highest->start - base) >> shift) >= buckets) {
    ++shift;
  }
  const auto bucket_of = [base, shift](const CompactSymbol& record) {
    return static_cast<std::size_t>((record.start - base) >> shift);
  };
  std::vector<std::uint32_t> ends(buckets);  // where each bucket ends
  for (const CompactSymbol& record : records) {
    ++ends[bucket_of(record)];
  }
  std::vector<std::uint32_t> next(buckets);  // where its next symbol goes
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    next[i] = sum;
    sum += ends[i];
    ends[i] = sum;
  }
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    while (next[i] < ends[i]) {
      CompactSymbol record = records[next[i]];
      for (std::size_t own = bucket_of(record); own != i; own = bucket_of(record)) {
        std::swap(record, records[next[own]++]);
      }
      records[next[i]++] = record;
    }
    std::sort(records.begin() + begin, records.begin() + ends[i], starts_earlier);
    begin = ends[i];
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
    const auto rest = std::ranges::unique(group, [](const Member& left, const Member& right) {
      return same_name(left.symbol.name, right.symbol.name);
    });
    group.erase(rest.begin(), rest.end());
    sort_group(group);
  });
}

}  // namespace whocall
