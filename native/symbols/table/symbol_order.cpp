#include "symbols/table/symbol_order.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/sort_by_address.h"

namespace whocall {
namespace {

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

void sort_starts(SymbolList& symbols) {
  sort_by_address(symbols.records(), [](const CompactSymbol& record) { return record.start; });
}

}  // namespace

void sort_symbols(SymbolList& symbols) {
  sort_starts(symbols);
  arrange_groups(symbols, sort_group);
}

void sort_distinct_symbols(SymbolList& symbols) {
  sort_starts(symbols);
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
