#include "object/stale_frames.h"

#include <algorithm>
#include <iterator>

#include "arch/elf_machine.h"
#include "base/interrupt.h"
#include "object/elf_symbols.h"

namespace whocall {
namespace {

constexpr std::size_t kEntriesLookedAt = 256;        // entries, spread over the table
constexpr std::size_t kMostSteps = 10000000;  // of comparing: a file may have any symbols

struct ComparedEntry {
  AddressRange range;
  bool is_function = false;
  bool cuts_function = false;  // begins or ends in the midst of one
};

std::vector<ComparedEntry> spread(const std::vector<AddressRange>& ranges) {
  std::vector<ComparedEntry> entries;
  const std::size_t step = std::max<std::size_t>(1, ranges.size() / kEntriesLookedAt);
  for (std::size_t at = 0; at < ranges.size(); at += step) {
    entries.push_back({ranges[at]});
  }
  std::ranges::sort(entries, {}, [](const auto& entry) { return entry.range.begin; });
  return entries;
}

bool is_function(const ElfSymbolEntry& symbol) {
  return (symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC) && symbol.section != SHN_UNDEF;
}

// How many entries it was compared with.
std::size_t compare(const ElfSymbolEntry& symbol, std::vector<ComparedEntry>& entries) {
  const auto begin = [](const ComparedEntry& entry) { return entry.range.begin; };
  const auto first = std::ranges::lower_bound(entries, symbol.value, {}, begin);
  if (first != entries.begin() && std::prev(first)->range.contains(symbol.value)) {
    std::prev(first)->cuts_function = true;
  }
  const std::uint64_t size = std::max<std::uint64_t>(symbol.size, 1);
  auto entry = first;
  for (; entry != entries.end() && entry->range.begin - symbol.value < size; ++entry) {
    const bool same = entry->range.begin == symbol.value &&
                      (symbol.size == 0 || symbol.size == entry->range.size());
    (same ? entry->is_function : entry->cuts_function) = true;
  }
  return static_cast<std::size_t>(entry - first);
}

}  // namespace

bool is_stale(const std::vector<AddressRange>& ranges, const ElfFile& file) {
  const ElfSymbols symbols = ElfSymbols::static_of(file);
  if (symbols.size() == 0) {
    return false;
  }
  std::vector<ComparedEntry> entries = spread(ranges);
  const Address mode_bits = elf_machine(file.machine()).function_mode_bits;  // Thumb
  std::size_t steps = 0;
  for (std::size_t at = 0; at < symbols.size() && steps < kMostSteps; ++at) {
    check_interrupt_at(at, kManyEntries);
    ElfSymbolEntry symbol = symbols[at];
    symbol.value &= ~mode_bits;
    if (is_function(symbol)) {
      steps += 1 + compare(symbol, entries);
    }
  }
  const auto agree = std::ranges::count_if(entries, &ComparedEntry::is_function);
  const auto cut = std::ranges::count_if(entries, [](const ComparedEntry& entry) {
    return entry.cuts_function && !entry.is_function;
  });
  return cut >= 2 && cut * 4 > agree;
}

}  // namespace whocall
