#include "object/stale_frames.h"

#include <algorithm>
#include <iterator>

#include "arch/elf_machine.h"
#include "base/interrupt.h"
#include "object/elf_symbols.h"
#include "object/range_index.h"

namespace whocall {
namespace {

constexpr std::size_t kEntriesLookedAt = 256;  // entries, spread over the table
constexpr std::size_t kMostSteps = 10000000;   // of comparing: a file may have any symbols

struct ComparedEntry {
  AddressRange range;
  bool is_function = false;
  bool cuts_function = false;  // holds the beginning or the end of one, and not all of it
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

bool holds(const AddressRange& outer, const AddressRange& inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

class Comparison {
 public:
  explicit Comparison(const std::vector<AddressRange>& ranges) : entries_(spread(ranges)) {
    begins_.reserve(ranges.size());
    for (const AddressRange& range : ranges) {
      begins_.push_back(range.begin);
    }
    std::ranges::sort(begins_);
  }

  // How many entries it was compared with.
  std::size_t add(const AddressRange& function) {
    auto entry = std::ranges::lower_bound(
        entries_, function.begin, {}, [](const ComparedEntry& each) { return each.range.begin; });
    if (entry != entries_.end() && entry->range.begin == function.begin && function.empty()) {
      entry->is_function = true;
    }
    if (entry != entries_.begin() && std::prev(entry)->range.contains(function.begin)) {
      --entry;
    }
    const auto first = entry;
    for (; entry != entries_.end() && entry->range.begin < function.end; ++entry) {
      if (entry->range == function) {
        entry->is_function = true;
      } else if (cuts(entry->range, function)) {
        entry->cuts_function = true;
      }
    }
    return static_cast<std::size_t>(entry - first);
  }

  [[nodiscard]] bool is_stale() const {
    const auto agree = std::ranges::count_if(entries_, &ComparedEntry::is_function);
    const auto cut = std::ranges::count_if(entries_, [](const ComparedEntry& entry) {
      return entry.cuts_function && !entry.is_function;
    });
    return cut >= 2 && cut * 4 > agree;
  }

 private:
  // A part of a function is no cut where the function's beginning has an entry too.
  [[nodiscard]] bool cuts(const AddressRange& entry, const AddressRange& function) const {
    return holds(function, entry) ? !std::ranges::binary_search(begins_, function.begin)
                                  : !holds(entry, function);
  }

  std::vector<ComparedEntry> entries_;
  std::vector<Address> begins_;  // of all entries
};

}  // namespace

bool is_stale(const std::vector<AddressRange>& ranges, const ElfFile& file) {
  const ElfSymbols symbols = ElfSymbols::static_of(file);
  if (symbols.size() == 0) {
    return false;
  }
  Comparison comparison(ranges);
  const Address mode_bits = elf_machine(file.machine()).function_mode_bits;  // Thumb
  std::size_t steps = 0;
  for (std::size_t at = 0; at < symbols.size() && steps < kMostSteps; ++at) {
    check_interrupt_at(at, kManyEntries);
    const ElfSymbolEntry symbol = symbols[at];
    const Address begin = symbol.value & ~mode_bits;
    if (is_function(symbol)) {
      steps += 1 + comparison.add({begin, end_of(begin, symbol.size)});
    }
  }
  return comparison.is_stale();
}

}  // namespace whocall
