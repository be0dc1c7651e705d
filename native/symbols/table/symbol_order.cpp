#include "symbols/table/symbol_order.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

#include "base/interrupt.h"
#include "base/sort_by_address.h"
#include "symbols/table/name_order.h"

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

// Above, sorting the names as such is cheaper than comparing the symbols.
constexpr std::ptrdiff_t kManyAtOneStart = 16;

enum class Twins { all, best };  // of symbols with one start and one name

void sort_group(std::vector<Member>& group) { std::ranges::sort(group, better, &Member::symbol); }

void keep_best_of_names(std::vector<Member>& group) {
  std::ranges::sort(group, by_name_then_rank, &Member::symbol);
  group.erase(std::unique(group.begin(), group.end(),
                          [](const Member& left, const Member& right) {
                            return same_name(left.symbol.name, right.symbol.name);
                          }),
              group.end());
}

// Puts symbols with one start in order, group by group.
class GroupSorter {
 public:
  GroupSorter(SymbolList& symbols, Twins twins)
      : symbols_(symbols), records_(symbols.records()), twins_(twins) {}

  void run() {
    auto kept = records_.begin();
    std::size_t turn = 0;
    for (auto first = records_.begin(); first != records_.end();) {
      check_interrupt_at(turn++, kManyEntries);
      auto last = first + 1;
      while (last != records_.end() && last->start == first->start) {
        ++last;
      }
      kept = last - first == 1                ? keep_one(first, kept)
             : last - first < kManyAtOneStart ? keep_few(first, last, kept)
                                              : keep_many(first, last, kept);
      first = last;
    }
    records_.erase(kept, records_.end());
  }

 private:
  using Place = CompactSymbols::iterator;

  static Place keep_one(Place from, Place to) {
    if (from != to) {
      *to = *from;
    }
    return to + 1;
  }

  Place keep_few(Place first, Place last, Place to) {
    group_.clear();
    for (auto each = first; each != last; ++each) {
      group_.push_back({symbols_.expand(*each), *each});
    }
    if (twins_ == Twins::best) {
      keep_best_of_names(group_);
    }
    sort_group(group_);
    return std::transform(group_.begin(), group_.end(), to,
                          [](const Member& member) { return member.record; });
  }

  // By name, then by what goes before the name in the order.
  Place keep_many(Place first, Place last, Place to) {
    CompactSymbols group(first, last);
    // First as the names lie in memory: they are read for their ends.
    sort_by_address(group, [](const CompactSymbol& record) { return Address{record.name}; });
    NamedItems names;
    names.reserve(group.size());
    for (std::size_t i = 0; i < group.size(); ++i) {
      check_interrupt_at(i, kManyEntries);
      const std::string_view name = symbols_.name(group[i]);
      names.push_back(
          {name.data(), static_cast<std::uint32_t>(name.size()), static_cast<std::uint32_t>(i)});
    }
    sort_by_name(names);
    CompactSymbols sorted;
    sorted.reserve(names.size());
    const auto named =
        std::ranges::find_if(names, [](const NamedItem& name) { return name.size != 0; });
    for (auto name = named; name != names.end();) {
      auto next = name + 1;
      while (next != names.end() && same_name(next->text(), name->text())) {
        ++next;
      }
      append_twins(group, {name, next}, sorted);
      name = next;
    }
    sort_by_address(sorted, [](const CompactSymbol& record) { return rank_before_names(record); });
    append_twins(group, {names.begin(), named}, sorted);
    return std::copy(sorted.begin(), sorted.end(), to);
  }

  void append_twins(const CompactSymbols& group, std::span<const NamedItem> names,
                    CompactSymbols& sorted) {
    if (names.size() <= 1) {
      for (const NamedItem& name : names) {
        sorted.push_back(group[name.item]);
      }
      return;
    }
    group_.clear();
    for (const NamedItem& name : names) {
      const CompactSymbol& record = group[name.item];
      group_.push_back({symbols_.expand(record), record});
      group_.back().symbol.name = names.front().text();  // no need to compare equal ones
    }
    sort_group(group_);
    group_.resize(twins_ == Twins::best ? 1 : group_.size());
    for (const Member& member : group_) {
      sorted.push_back(member.record);
    }
  }

  // As `better` has it of symbols with names, in a few bits.
  static Address rank_before_names(const CompactSymbol& record) {
    const unsigned binding = record.weak != 0 ? 1 : record.global != 0 ? 0 : 2;
    return (record.exact_end != 0 ? 0U : 1U << 8U) | record.source << 2U | binding;
  }

  SymbolList& symbols_;
  CompactSymbols& records_;
  Twins twins_;
  std::vector<Member> group_;
};

void sort_starts(SymbolList& symbols) {
  sort_by_address(symbols.records(), [](const CompactSymbol& record) { return record.start; });
}

}  // namespace

void sort_symbols(SymbolList& symbols) {
  sort_starts(symbols);
  GroupSorter(symbols, Twins::all).run();
}

void sort_distinct_symbols(SymbolList& symbols) {
  sort_starts(symbols);
  GroupSorter(symbols, Twins::best).run();
}

}  // namespace whocall
