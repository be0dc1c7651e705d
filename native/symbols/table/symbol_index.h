// Which of sorted symbols, possibly nested or overlapping, holds an address: in nearly all cases
// two dependent reads of memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symbols/table/index_entry.h"
#include "symbols/table/symbol_list.h"

namespace whocall {

// Equal-width buckets of addresses, about as many as there are symbols, hold their first symbol;
// the few of a bucket are looked through, eight at once. What that takes of a symbol stands beside
// the list once more, in half its size: so a look-up waits for a bucket and for one line of the
// cache, and the look-ups of a batch wait together. `exceptions_` holds the rest: addresses that
// belong to another symbol than the last one that starts at or below them, such as what follows a
// function that lies inside another.
class SymbolIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // `symbols` are in the order of sort_symbols, stay as they are and outlive the index, which can
  // be moved together with them.
  SymbolIndex() = default;
  explicit SymbolIndex(const SymbolList& symbols);

  // The symbol with the nearest start at or below `address` whose range holds it, the first of
  // several at one start; kNone when there is none.
  [[nodiscard]] std::uint32_t find(const SymbolList& symbols, Address address) const;
  // The same for a buffer of addresses; `out` is as long as `addresses`. Order is free.
  void find(const SymbolList& symbols, std::span<const Address> addresses,
            std::span<std::uint32_t> out) const;

 private:
  // Where the last start at or below an address does not tell the answer.
  struct Exception {
    AddressRange range;
    std::uint32_t owner = kNone;
  };
  using Entry = IndexEntry;
  static constexpr std::uint32_t kAtOnce = kEntriesAtOnce;

  void build_directory(std::span<const CompactSymbol> records);
  void build_entries(const SymbolList& symbols);
  void collect_exceptions(const SymbolList& symbols);
  [[nodiscard]] std::size_t bucket_of(Address address) const;
  // The bucket in which the look-up of `address` begins, whatever that is.
  [[nodiscard]] std::size_t usable_bucket_of(Address address) const;
  [[nodiscard]] std::uint32_t find_from(std::size_t bucket, std::uint32_t first,
                                        Address address) const;
  [[nodiscard]] std::uint32_t find_in_records(const SymbolList& symbols, Address address) const;
  [[nodiscard]] std::uint32_t exception_at(Address address) const;

  // buckets_[b]: the first symbol with (start - base_) >> shift_ >= b; one more for the end.
  std::vector<std::uint32_t> buckets_;
  // Of all symbols, and behind them kAtOnce that start above everything. Empty where the starts
  // span 4 GiB or a length takes 31 bits: look-ups then read the list.
  std::vector<Entry> entries_;
  Address base_ = 0;
  unsigned shift_ = 0;
  std::vector<Exception> exceptions_;  // ascending, disjoint
};

}  // namespace whocall
