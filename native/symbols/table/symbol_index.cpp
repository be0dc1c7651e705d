#include "symbols/table/symbol_index.h"

#include <algorithm>
#include <array>

#include "base/interrupt.h"
#include "object/range_index.h"

namespace whocall {
namespace {

using Records = std::span<const CompactSymbol>;

// Up to here a scan that the processor predicts beats a binary search that it cannot.
constexpr std::uint32_t kLongestScan = 32;

bool begins_behind(Address address, const CompactSymbol& record) { return address < record.start; }

// Behind the last of records[first, last) that starts at or below `address`; `first` when all start
// above.
std::uint32_t behind_last_start(Records records, std::uint32_t first, std::uint32_t last,
                                Address address) {
  if (last - first > kLongestScan) {
    const auto next =
        std::upper_bound(records.begin() + first, records.begin() + last, address, begins_behind);
    return static_cast<std::uint32_t>(next - records.begin());
  }
  // Without a branch on what is read: where in its bucket an address lies cannot be predicted.
  std::uint32_t below = 0;
  for (std::uint32_t i = first; i < last; ++i) {
    below += records[i].start <= address ? 1 : 0;
  }
  return first + below;
}

// The first of those that start where items[index] does; hostile files have many.
template <typename Item>
std::uint32_t first_of_group(std::span<const Item> items, std::uint32_t index) {
  const auto start = items[index].start;
  std::uint32_t first = index;
  while (first > 0 && items[first - 1].start == start) {
    if (index - first > kLongestScan) {
      const auto other = [start](const Item& item) { return item.start != start; };
      return static_cast<std::uint32_t>(
          std::partition_point(items.begin(), items.begin() + first, other) - items.begin());
    }
    --first;
  }
  return first;
}

// Distances from the base that entries can hold; one more is above all of them.
constexpr Address kFarthest = 0xffffffff;
constexpr std::uint32_t kLongest = 0x7fffffff;

// SSE2 compares signed numbers only.
constexpr std::uint32_t flipped(Address distance) {
  return static_cast<std::uint32_t>(distance) ^ 0x80000000U;
}

}  // namespace

SymbolIndex::SymbolIndex(const SymbolList& symbols) {
  if (!symbols.empty()) {
    build_directory(symbols.records());
    build_entries(symbols);
    collect_exceptions(symbols);
  }
}

void SymbolIndex::build_directory(Records records) {
  base_ = records.front().start;
  const Address span = records.back().start - base_;
  // About one bucket a symbol: the widest power of two that gives no more than twice as many.
  while ((span >> shift_) >= 2 * records.size()) {
    ++shift_;
  }
  const std::size_t count = static_cast<std::size_t>(span >> shift_) + 1;
  buckets_.assign(count + 1, static_cast<std::uint32_t>(records.size()));
  std::size_t bucket = 0;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    check_interrupt_at(i, kManyEntries);
    for (const std::size_t own = bucket_of(records[i].start); bucket <= own; ++bucket) {
      buckets_[bucket] = i;
    }
  }
}

void SymbolIndex::build_entries(const SymbolList& symbols) {
  const Records records = symbols.records();
  if (records.back().start - base_ >= kFarthest) {
    return;
  }
  entries_.reserve(records.size() + kAtOnce);
  for (std::size_t i = 0; i < records.size(); ++i) {
    check_interrupt_at(i, kManyEntries);
    Entry entry;
    entry.start = flipped(records[i].start - base_);
    if (i != 0 && records[i - 1].start == records[i].start) {
      entry.length = entries_.back().length;
      entry.follows = 1;
    } else if (const std::uint64_t length = symbols.length(i); length <= kLongest) {
      entry.length = static_cast<std::uint32_t>(length) & kLongest;
    } else {
      entries_ = {};
      return;
    }
    entries_.push_back(entry);
  }
  Entry above;
  above.start = flipped(kFarthest);
  entries_.insert(entries_.end(), kAtOnce, above);
}

void SymbolIndex::collect_exceptions(const SymbolList& symbols) {
  RangePiece open;  // an exception whose end is yet to come, or a gap
  const auto is_usual = [&](const RangePiece& piece) {
    return symbols.start(piece.owner) == piece.begin &&
           (piece.owner == 0 || symbols.start(piece.owner - 1) != piece.begin);
  };
  for_each_piece(
      static_cast<std::uint32_t>(symbols.size()), [&](std::uint32_t i) { return symbols.range(i); },
      [&](const RangePiece& piece) {
        if (open.owner != kNoRange) {
          exceptions_.push_back({{open.begin, piece.begin}, open.owner});
        }
        open = piece.owner == kNoRange || is_usual(piece) ? RangePiece{} : piece;
      });
}

std::size_t SymbolIndex::bucket_of(Address address) const {
  return static_cast<std::size_t>((address - base_) >> shift_);
}

std::uint32_t SymbolIndex::exception_at(Address address) const {
  const auto next = std::upper_bound(
      exceptions_.begin(), exceptions_.end(), address,
      [](Address wanted, const Exception& each) { return wanted < each.range.begin; });
  const bool found = next != exceptions_.begin() && std::prev(next)->range.contains(address);
  return found ? std::prev(next)->owner : kNone;
}

std::size_t SymbolIndex::usable_bucket_of(Address address) const {
  return std::min(bucket_of(address), buckets_.size() - 2);
}

// Where `bucket` begins with the symbol `first`. Nothing in it starts at or below `address`: then
// the one before it does. What decides is left to the processor's guess, as nearly all addresses
// that are asked for are covered: the next look-up need not wait for it.
inline std::uint32_t SymbolIndex::find_from(std::size_t bucket, std::uint32_t first,
                                            Address address) const {
  const std::uint32_t start = flipped(address - base_);
  std::uint32_t below = count_at_or_below(&entries_[first], start);
  if (below == kAtOnce) [[unlikely]] {
    const Entry* next = std::upper_bound(
        &entries_[first] + below, entries_.data() + std::max(buckets_[bucket + 1], first + below),
        start, [](std::uint32_t wanted, const Entry& entry) {
          return static_cast<std::int32_t>(wanted) < static_cast<std::int32_t>(entry.start);
        });
    below = static_cast<std::uint32_t>(next - &entries_[first]);
  }
  const std::uint32_t last = first + below - 1;
  const Entry& entry = entries_[last];
  if (start - entry.start >= entry.length) [[unlikely]] {
    return exceptions_.empty() ? kNone : exception_at(address);
  }
  if (entry.follows != 0) [[unlikely]] {
    return first_of_group(std::span<const Entry>(entries_), last);
  }
  return last;
}

std::uint32_t SymbolIndex::find_in_records(const SymbolList& symbols, Address address) const {
  const std::size_t bucket = usable_bucket_of(address);
  const std::uint32_t last =
      behind_last_start(symbols.records(), buckets_[bucket], buckets_[bucket + 1], address) - 1;
  const std::uint32_t best = first_of_group(symbols.records(), last);
  const bool covered = address - symbols.start(best) < symbols.length(best);
  return covered ? best : exception_at(address);
}

std::uint32_t SymbolIndex::find(const SymbolList& symbols, Address address) const {
  if (buckets_.empty() || address < base_) [[unlikely]] {
    return kNone;
  }
  if (entries_.empty() || address - base_ >= kFarthest) [[unlikely]] {
    return find_in_records(symbols, address);
  }
  const std::size_t bucket = usable_bucket_of(address);
  return find_from(bucket, buckets_[bucket], address);
}

// In blocks, so that the cache misses of one block's look-ups overlap instead of queueing up: a
// look-up waits for its bucket and then for its symbols, and little else.
void SymbolIndex::find(const SymbolList& symbols, std::span<const Address> addresses,
                       std::span<std::uint32_t> out) const {
  const std::size_t count = std::min(addresses.size(), out.size());
  if (entries_.empty()) {
    std::transform(addresses.begin(), addresses.begin() + count, out.begin(),
                   [&](Address address) { return find(symbols, address); });
    return;
  }
  constexpr std::size_t kBlock = 64;
  std::array<std::size_t, kBlock> bucket;
  std::array<std::uint32_t, kBlock> first;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const auto block = addresses.subspan(begin, std::min(kBlock, count - begin));
    for (std::size_t i = 0; i < block.size(); ++i) {
      bucket[i] = usable_bucket_of(block[i]);  // one below the base wraps: any bucket will do
      __builtin_prefetch(&buckets_[bucket[i]]);
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      first[i] = buckets_[bucket[i]];
      __builtin_prefetch(&entries_[first[i]]);
      __builtin_prefetch(&entries_[first[i] + kAtOnce - 1]);
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      // Also what lies below the base.
      const bool is_far = block[i] - base_ >= kFarthest;
      out[begin + i] = is_far ? find(symbols, block[i]) : find_from(bucket[i], first[i], block[i]);
    }
  }
}

}  // namespace whocall
