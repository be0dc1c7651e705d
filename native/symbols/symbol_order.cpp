#include "symbols/symbol_order.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace whocall {
namespace {

struct Key {
  Address start;
  std::uint32_t index;
};

// Least significant digit first; stable, and digits that all keys share cost no pass.
void radix_sort(std::vector<Key>& keys) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  Address varying = 0;
  for (const Key& key : keys) {
    varying |= key.start ^ keys.front().start;
  }
  std::vector<Key> other(keys.size());
  for (unsigned shift = 0; shift < 64 && (varying >> shift) != 0; shift += kBits) {
    if (((varying >> shift) & (kDigits - 1)) == 0) {
      continue;
    }
    std::array<std::uint32_t, kDigits> place{};
    for (const Key& key : keys) {
      ++place[(key.start >> shift) & (kDigits - 1)];
    }
    std::uint32_t next = 0;
    for (std::uint32_t& count : place) {
      next += std::exchange(count, next);
    }
    for (const Key& key : keys) {
      other[place[(key.start >> shift) & (kDigits - 1)]++] = key;
    }
    keys.swap(other);
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
  return left.name.data() != right.name.data() && left.name < right.name;
}

bool by_name_then_rank(const Symbol& left, const Symbol& right) {
  if (left.name.size() != right.name.size()) {
    return left.name.size() < right.name.size();
  }
  return same_name(left.name, right.name) ? better(left, right) : left.name < right.name;
}

using SymbolIterator = std::vector<Symbol>::iterator;

SymbolIterator end_of_group(SymbolIterator first, SymbolIterator last) {
  const Address start = first->range.begin;
  return std::find_if(first, last,
                      [&](const Symbol& symbol) { return symbol.range.begin != start; });
}

}  // namespace

void sort_symbols(std::vector<Symbol>& symbols) {
  if (symbols.empty()) {
    return;
  }
  std::vector<Key> keys(symbols.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    keys[i] = {symbols[i].range.begin, static_cast<std::uint32_t>(i)};
  }
  radix_sort(keys);
  std::vector<Symbol> sorted;
  sorted.reserve(symbols.size());
  for (const Key& key : keys) {
    sorted.push_back(symbols[key.index]);
  }
  symbols = std::move(sorted);
  for (auto first = symbols.begin(); first != symbols.end();) {
    const auto last = end_of_group(first, symbols.end());
    if (last - first > 1) {
      std::sort(first, last, better);
    }
    first = last;
  }
}

void drop_repetitions(std::vector<Symbol>& symbols) {
  auto kept = symbols.begin();
  for (auto first = symbols.begin(); first != symbols.end();) {
    const auto last = end_of_group(first, symbols.end());
    auto group_end = last;
    if (last - first > 1) {
      std::sort(first, last, by_name_then_rank);
      group_end = std::unique(first, last, [](const Symbol& left, const Symbol& right) {
        return same_name(left.name, right.name);
      });
      std::sort(first, group_end, better);
    }
    kept = std::move(first, group_end, kept);
    first = last;
  }
  symbols.erase(kept, symbols.end());
}

}  // namespace whocall
