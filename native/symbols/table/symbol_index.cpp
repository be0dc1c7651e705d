#include "symbols/table/symbol_index.h"

#include <algorithm>
#include <array>

#include "object/range_index.h"

namespace whocall {
namespace {

using Records = std::span<const CompactSymbol>;

// Up to here a scan that the processor predicts beats a binary search that it cannot.
constexpr std::uint32_t kLongestScan = 32;

bool begins_behind(Address address, const CompactSymbol& record) { return address < record.start; }

bool starts_earlier(const CompactSymbol& left, const CompactSymbol& right) {
  return left.start < right.start;
}

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

// The first of those that start where records[index] does; hostile files have many.
std::uint32_t first_of_group(Records records, std::uint32_t index) {
  const Address start = records[index].start;
  std::uint32_t first = index;
  while (first > 0 && records[first - 1].start == start) {
    if (index - first > kLongestScan) {
      const auto found = std::lower_bound(records.begin(), records.begin() + first, records[index],
                                          starts_earlier);
      return static_cast<std::uint32_t>(found - records.begin());
    }
    --first;
  }
  return first;
}

}  // namespace

SymbolIndex::SymbolIndex(const SymbolList& symbols) {
  if (!symbols.empty()) {
    build_directory(symbols.records());
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
    for (const std::size_t own = bucket_of(records[i].start); bucket <= own; ++bucket) {
      buckets_[bucket] = i;
    }
  }
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

std::uint32_t SymbolIndex::find(const SymbolList& symbols, Address address) const {
  if (symbols.empty() || address < base_) {
    return kNone;
  }
  const std::size_t bucket = std::min(bucket_of(address), buckets_.size() - 2);
  // Nothing in this bucket starts at or below: the one before it does.
  const std::uint32_t last =
      behind_last_start(symbols.records(), buckets_[bucket], buckets_[bucket + 1], address) - 1;
  const std::uint32_t best = first_of_group(symbols.records(), last);
  const bool covered = address - symbols.start(best) < symbols.length(best);
  if (exceptions_.empty()) {
    return covered ? best : kNone;
  }
  return covered ? best : exception_at(address);
}

// In blocks, so that the cache misses of one block's look-ups overlap instead of queueing up: a
// look-up waits for its bucket and then for its symbols, and little else.
void SymbolIndex::find(const SymbolList& symbols, std::span<const Address> addresses,
                       std::span<std::uint32_t> out) const {
  constexpr std::size_t kBlock = 32;
  const std::size_t count = std::min(addresses.size(), out.size());
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const auto block = addresses.subspan(begin, std::min(kBlock, count - begin));
    if (!symbols.empty()) {
      std::array<std::size_t, kBlock> bucket{};
      for (std::size_t i = 0; i < block.size(); ++i) {
        // May wrap below the base: clamped.
        bucket[i] = std::min(bucket_of(block[i]), buckets_.size() - 1);
        __builtin_prefetch(&buckets_[bucket[i]]);
      }
      for (std::size_t i = 0; i < block.size(); ++i) {
        __builtin_prefetch(symbols.records().data() + buckets_[bucket[i]]);
      }
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      out[begin + i] = find(symbols, block[i]);
    }
  }
}

}  // namespace whocall
