#include "symbols/symbol_table.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <utility>

#include "object/call_frame_info.h"
#include "object/range_index.h"
#include "symbols/code_areas.h"
#include "symbols/elf_function_symbols.h"
#include "symbols/function_bounds.h"
#include "symbols/symbol_order.h"

namespace whocall {
namespace {

// Up to here a scan that the processor predicts beats a binary search that it cannot.
constexpr std::uint32_t kLongestScan = 32;

void add_fdes(const CallFrameInfo* info, std::vector<AddressRange>& fdes) {
  if (info != nullptr) {
    info->for_each([&](const Fde& fde) {
      if (!fde.range.empty()) {
        fdes.push_back(fde.range);
      }
    });
  }
}

void add_functions(const ElfFile& file, std::vector<Symbol>& symbols,
                   std::vector<AddressRange>& fdes) {
  add_elf_functions(file, symbols);
  if (file.type() != ET_REL) {  // before relocation, all FDEs start at 0
    add_fdes(CallFrameInfo::of_eh_frame(file).get(), fdes);
    add_fdes(CallFrameInfo::of_debug_frame(file).get(), fdes);
  }
}

using Files = std::pair<std::shared_ptr<const ElfFile>, Companions>;

}  // namespace

std::shared_ptr<const SymbolTable> SymbolTable::from_elf(std::shared_ptr<const ElfFile> file,
                                                         Companions companions) {
  std::vector<Symbol> symbols;
  std::vector<AddressRange> fdes;
  add_functions(*file, symbols, fdes);
  for (const Companion& companion : companions.files) {
    add_companion_functions(*companion.file, companion.source, symbols);
    add_fdes(CallFrameInfo::of_debug_frame(*companion.file).get(), fdes);
  }
  for (const NameList& list : companions.lists) {
    symbols.insert(symbols.end(), list.symbols.begin(), list.symbols.end());
  }
  sort_symbols(symbols);
  drop_repetitions(symbols);
  settle_bounds(symbols, std::move(fdes), code_parts(*file));
  auto owner = std::make_shared<const Files>(std::move(file), std::move(companions));
  return std::shared_ptr<const SymbolTable>(new SymbolTable(std::move(symbols), std::move(owner)));
}

std::shared_ptr<const SymbolTable> SymbolTable::from_symbols(std::vector<Symbol> symbols,
                                                             std::shared_ptr<const void> owner) {
  sort_symbols(symbols);
  return std::shared_ptr<const SymbolTable>(new SymbolTable(std::move(symbols), std::move(owner)));
}

SymbolTable::SymbolTable(std::vector<Symbol> symbols, std::shared_ptr<const void> owner)
    : symbols_(std::move(symbols)), owner_(std::move(owner)) {
  build_index();
}

void SymbolTable::build_index() {
  const auto pieces = flatten_ranges(static_cast<std::uint32_t>(symbols_.size()),
                                     [this](std::uint32_t i) { return symbols_[i].range; });
  if (pieces.empty()) {
    return;
  }
  starts_.reserve(pieces.size());
  answers_.reserve(pieces.size());
  for (const RangePiece& piece : pieces) {
    starts_.push_back(piece.begin);
    answers_.push_back(piece.owner);
  }
  // About one bucket a start: the widest power of two that gives no more than twice as many.
  const Address span = starts_.back() - starts_.front();
  bucket_shift_ = 0;
  while ((span >> bucket_shift_) >= 2 * starts_.size()) {
    ++bucket_shift_;
  }
  const std::size_t count = static_cast<std::size_t>(span >> bucket_shift_) + 1;
  buckets_.assign(count + 1, static_cast<std::uint32_t>(starts_.size()));
  std::size_t bucket = 0;
  for (std::uint32_t i = 0; i < starts_.size(); ++i) {
    const Address own = (starts_[i] - starts_.front()) >> bucket_shift_;
    for (; bucket <= own; ++bucket) {
      buckets_[bucket] = i;
    }
  }
}

// The last of starts_[first, last) at or below `address`, or first - 1 when all lie above.
std::uint32_t SymbolTable::last_start_in(std::uint32_t first, std::uint32_t last,
                                         Address address) const {
  if (last - first > kLongestScan) {
    const auto next = std::upper_bound(starts_.begin() + first, starts_.begin() + last, address);
    return static_cast<std::uint32_t>(next - starts_.begin()) - 1;
  }
  while (first < last && starts_[first] <= address) {
    ++first;
  }
  return first - 1;
}

std::uint32_t SymbolTable::find(Address address) const {
  // The last piece is a gap, so nothing at or behind its start has an answer.
  if (starts_.empty() || address < starts_.front() || address >= starts_.back()) {
    return kNone;
  }
  const auto bucket = static_cast<std::size_t>((address - starts_.front()) >> bucket_shift_);
  return answers_[last_start_in(buckets_[bucket], buckets_[bucket + 1], address)];
}

// In blocks, so that the cache misses of one block's look-ups overlap instead of queueing up: a
// look-up waits for its bucket and then for its starts, and little else.
void SymbolTable::find(std::span<const Address> addresses, std::span<std::uint32_t> out) const {
  constexpr std::size_t kBlock = 32;
  const std::size_t count = std::min(addresses.size(), out.size());
  const std::size_t last_bucket = buckets_.empty() ? 0 : buckets_.size() - 1;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const auto block = addresses.subspan(begin, std::min(kBlock, count - begin));
    if (!starts_.empty()) {
      std::array<std::size_t, kBlock> bucket{};
      for (std::size_t i = 0; i < block.size(); ++i) {
        const Address own = (block[i] - starts_.front()) >> bucket_shift_;  // may wrap: clamped
        bucket[i] = static_cast<std::size_t>(std::min<Address>(own, last_bucket));
        __builtin_prefetch(&buckets_[bucket[i]]);
      }
      for (std::size_t i = 0; i < block.size(); ++i) {
        const std::uint32_t first = buckets_[bucket[i]];
        __builtin_prefetch(starts_.data() + first);
        __builtin_prefetch(answers_.data() + first);
      }
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      out[begin + i] = find(block[i]);
    }
  }
}

std::span<const Symbol> SymbolTable::aliases(std::uint32_t index) const {
  if (index >= symbols_.size()) {
    return {};
  }
  const auto same_start = std::equal_range(
      symbols_.begin(), symbols_.end(), symbols_[index],
      [](const Symbol& left, const Symbol& right) { return left.range.begin < right.range.begin; });
  return {same_start.first, same_start.second};
}

}  // namespace whocall
