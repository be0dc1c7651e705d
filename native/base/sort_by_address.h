// Sorting by address in linear time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/interrupt.h"

namespace whocall {

// Scatters the items, in their order, into buckets by one digit of their address's distance from
// `base`. False, and nothing is done, when all share the digit.
template <typename Items, typename AddressOf>
bool radix_scatter(const Items& from, Items& to, AddressOf address_of, Address base, unsigned shift,
                   unsigned bits) {
  using Item = typename Items::value_type;
  std::vector<std::size_t> place(std::size_t{1} << bits);
  const auto digit_of = [=, mask = place.size() - 1](const Item& item) {
    return static_cast<std::size_t>((address_of(item) - base) >> shift) & mask;
  };
  for (const Item& item : from) {
    ++place[digit_of(item)];
  }
  if (place[digit_of(from.front())] == from.size()) {
    return false;
  }
  std::size_t next = 0;
  for (std::size_t& count : place) {
    next += std::exchange(count, next);
  }
  std::size_t turn = 0;
  for (const Item& item : from) {
    check_interrupt_at(turn++, kManyBytes);
    to[place[digit_of(item)]++] = item;
  }
  return true;
}

// A stable radix sort, least significant digit first. Digits are at most 11 bits, so buckets stay
// in cache. Sorted input costs one pass. `address_of(item)` is the key. Ctrl-C leaves the items in
// whatever order they are.
template <typename Item, typename Allocator, typename AddressOf>
void sort_by_address(std::vector<Item, Allocator>& items, AddressOf address_of) {
  constexpr unsigned kMostBits = 11;
  const auto earlier = [&](const Item& left, const Item& right) {
    return address_of(left) < address_of(right);
  };
  if (std::is_sorted(items.begin(), items.end(), earlier)) {
    return;
  }
  if (items.size() < (std::size_t{1} << kMostBits)) {  // fewer than buckets
    std::stable_sort(items.begin(), items.end(), earlier);
    return;
  }
  const auto [lowest, highest] = std::minmax_element(items.begin(), items.end(), earlier);
  const Address base = address_of(*lowest);
  const auto width = static_cast<unsigned>(std::bit_width(address_of(*highest) - base));
  const unsigned passes = (width + kMostBits - 1) / kMostBits;
  const unsigned bits = (width + passes - 1) / passes;
  std::vector<Item, Allocator> other(items.size());
  for (unsigned shift = 0; shift < width; shift += bits) {
    check_interrupt();
    if (radix_scatter(items, other, address_of, base, shift, bits)) {
      items.swap(other);
    }
  }
}

}  // namespace whocall
