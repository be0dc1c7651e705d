// The order of symbols that share a start, be they two or thousands.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/interrupt.h"
#include "symbols/table/name_order.h"
#include "symbols/table/symbol_order.h"
#include "symbols/table/symbol_table.h"

using namespace whocall;

namespace {

// Names of few letters, so that many begin alike, are alike, or end where others go on.
std::string random_name(std::mt19937& random, std::size_t longest) {
  std::string name(random() % (longest + 1), 'a');
  for (char& letter : name) {
    letter = random() % 4 == 0 ? static_cast<char>('a' + random() % 2) : 'a';
  }
  return name;
}

std::vector<Symbol> random_symbols(const std::vector<std::string>& names, std::mt19937& random) {
  std::vector<Symbol> symbols;
  for (const std::string& name : names) {
    Symbol symbol;
    symbol.name = name;
    symbol.source = random() % 3 == 0 ? NameSource::dynsym : NameSource::symtab;
    symbol.global = random() % 2 == 0;
    symbol.weak = symbol.global && random() % 2 == 0;
    symbol.exact_end = random() % 4 != 0;
    symbol.range = {0x1000, 0x1000 + random() % 4};
    symbols.push_back(symbol);
  }
  return symbols;
}

auto rank(const Symbol& symbol) {
  const int binding = symbol.weak ? 1 : symbol.global ? 0 : 2;
  return std::tuple(symbol.name.empty(), !symbol.exact_end, symbol.source, binding,
                    symbol.name.size(), symbol.name, ~symbol.range.size());
}

using Shown = decltype(rank(Symbol()));

std::vector<Shown> shown(const SymbolList& list) {
  std::vector<Shown> ranks;
  for (std::size_t i = 0; i < list.size(); ++i) {
    ranks.push_back(rank(list[i]));
  }
  return ranks;
}

std::vector<std::string> random_names(std::mt19937& random, std::size_t count,
                                      std::size_t longest) {
  std::vector<std::string> names(count);
  std::ranges::generate(names, [&] { return random_name(random, longest); });
  return names;
}

struct Stop {};
int the_checks_left = 0;

void stop_at_last() {
  if (--the_checks_left == 0) {
    throw Stop();
  }
}

}  // namespace

TEST_CASE("symbol order: at one start, as pair by pair, however many there are") {
  std::mt19937 random(3);
  for (const std::size_t count : {2U, 15U, 16U, 17U, 300U, 5000U}) {
    for (const std::size_t longest : {3U, 11U, 40U}) {
      const auto names = random_names(random, count, longest);
      auto symbols = random_symbols(names, random);
      SymbolList sorted{std::span<const Symbol>(symbols)};
      sort_symbols(sorted);
      std::ranges::stable_sort(symbols, {}, rank);
      CHECK(shown(sorted) == shown(SymbolList(std::span<const Symbol>(symbols))));

      SymbolList distinct{std::span<const Symbol>(symbols)};
      sort_distinct_symbols(distinct);
      std::vector<Symbol> best;
      for (const Symbol& symbol : symbols) {
        if (std::ranges::none_of(best, [&](auto& each) { return each.name == symbol.name; })) {
          best.push_back(symbol);
        }
      }
      CHECK(shown(distinct) == shown(SymbolList(std::span<const Symbol>(best))));
    }
  }
}

TEST_CASE("names in order: by length, then by bytes, each as often as it is there") {
  std::mt19937 random(4);
  for (const std::size_t longest : {0U, 1U, 7U, 8U, 9U, 64U}) {
    const auto names = random_names(random, 3000, longest);
    NamedItems items;
    for (std::uint32_t i = 0; i < 6000; ++i) {  // every name twice, from the same bytes
      const std::string& name = names[i % names.size()];
      items.push_back({name.data(), static_cast<std::uint32_t>(name.size()), i});
    }
    NamedItems expected = items;
    std::ranges::stable_sort(
        expected, {}, [](const NamedItem& item) { return std::tuple(item.size, item.text()); });
    sort_by_name(items);
    bool same = true;
    std::vector<bool> seen(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      same = same && items[i].text() == expected[i].text();
      seen[items[i].item] = true;
    }
    CHECK(same);
    CHECK(std::ranges::all_of(seen, [](bool each) { return each; }));
  }
}

TEST_CASE("names in order: bytes above 127 come last") {
  const std::vector<std::string> names = {"b\xff", "b\x7f", "a\x80"};
  NamedItems items;
  for (int turn = 0; turn < 10; ++turn) {  // more than are compared pair by pair
    for (const std::string& name : names) {
      items.push_back({name.data(), 2, 0});
    }
  }
  std::vector<std::string> copies;
  copies.reserve(items.size());
  for (NamedItem& item : items) {  // each with bytes of its own
    item.name = copies.emplace_back(item.text()).data();
  }
  sort_by_name(items);
  CHECK(items[0].text() == "a\x80");
  CHECK(items[9].text() == "a\x80");
  CHECK(items[10].text() == "b\x7f");
  CHECK(items[29].text() == "b\xff");
}

TEST_CASE("symbol order: Ctrl-C is heard all the time") {
  std::mt19937 random(5);
  constexpr std::size_t kCount = 50'000;
  const auto names = random_names(random, kCount, 40);
  auto symbols = random_symbols(names, random);
  for (const bool at_one_start : {false, true}) {
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      symbols[i].range.begin = at_one_start ? 0x1000 : 0x1000 + 16 * (random() % kCount);
    }
    const SymbolList list{std::span<const Symbol>(symbols)};
    constexpr int kMany = 1 << 30;
    the_checks_left = kMany;
    set_interrupt_check(&stop_at_last);
    const auto table = SymbolTable::from_symbols(list.branch());
    const int checks = kMany - the_checks_left;
    CHECK(checks >= static_cast<int>(kCount / kManyEntries / 2));
    the_checks_left = 1;
    CHECK_THROWS_AS(static_cast<void>(table->find(0x1000)), Stop);  // while the index is made
    the_checks_left = checks;
    CHECK_THROWS_AS(SymbolTable::from_symbols(list.branch()), Stop);
    set_interrupt_check(nullptr);
    CHECK(table->find(0x0fff) == SymbolTable::kNone);  // as if nothing had been
    CHECK(table->symbols().size() == kCount);
  }
}
