#include "symbols/table/function_bounds.h"

#include <algorithm>
#include <limits>

#include "base/interrupt.h"
#include "base/sort_by_address.h"
#include "object/range_index.h"

namespace whocall {
namespace {

constexpr Address kTop = std::numeric_limits<Address>::max();

// Sorted by start; of several FDEs at one start (.eh_frame and .debug_frame) the longest stays.
void sort_fdes(std::vector<AddressRange>& fdes) {
  sort_by_address(fdes, [](const AddressRange& range) { return range.begin; });
  std::size_t kept = 0;
  for (const AddressRange& range : fdes) {
    if (kept != 0 && fdes[kept - 1].begin == range.begin) {
      fdes[kept - 1].end = std::max(fdes[kept - 1].end, range.end);
    } else {
      fdes[kept++] = range;
    }
  }
  fdes.resize(kept);
}

// Where sections end, for the last symbol in each. The ranges are few, but hostile files have many.
class SectionEnds {
 public:
  explicit SectionEnds(const std::vector<AddressRange>& sections) : sections_(sections) {
    std::sort(sections_.begin(), sections_.end(),
              [](const AddressRange& left, const AddressRange& right) {
                return left.begin < right.begin;
              });
    pieces_ = flatten_ranges(static_cast<std::uint32_t>(sections_.size()),
                             [this](std::uint32_t i) { return sections_[i]; });
  }
  // An address in no section (a symbol at its end, or absolute) covers nothing.
  [[nodiscard]] Address end_behind(Address address) const {
    const std::uint32_t found = find_range(pieces_, address);
    return found == kNoRange ? address : sections_[found].end;
  }

 private:
  std::vector<AddressRange> sections_;
  std::vector<RangePiece> pieces_;
};

// One pass over symbols and FDEs together, in the order of their starts.
class Sweep {
 public:
  Sweep(SymbolList& symbols, std::vector<AddressRange>& fdes,
        const std::vector<AddressRange>& sections)
      : symbols_(symbols), fdes_(fdes), sections_(sections) {}

  // Settles the symbols' ends where they are; leaves of the FDEs the functions that only they know.
  void run() {
    std::size_t found = 0;
    std::size_t turn = 0;
    while (symbol_ < symbols_.size() || fde_ < fdes_.size()) {
      check_interrupt_at(turn++, kManyEntries);
      const Address start = std::min(next_symbol(symbol_), next_fde(fde_));
      const bool is_fde = fde_ < fdes_.size() && fdes_[fde_].begin == start;
      const AddressRange* fde = is_fde ? &fdes_[fde_++] : nullptr;
      if (symbol_ < symbols_.size() && symbols_.start(symbol_) == start) {
        resolve_group(fde);
      } else if (fde != nullptr && start >= covered_) {
        fdes_[found++] = *fde;
      }
    }
    fdes_.resize(found);
  }

 private:
  [[nodiscard]] Address next_symbol(std::size_t index) const {
    return index < symbols_.size() ? symbols_.start(index) : kTop;
  }
  [[nodiscard]] Address next_fde(std::size_t index) const {
    return index < fdes_.size() ? fdes_[index].begin : kTop;
  }

  // All symbols at one start; `fde` starts there as well, or is null.
  void resolve_group(const AddressRange* fde) {
    const Address start = symbols_.start(symbol_);
    const std::size_t first = symbol_;
    Address sized_end = start;
    while (symbol_ < symbols_.size() && symbols_.start(symbol_) == start) {
      sized_end = std::max(sized_end, symbols_.range(symbol_).end);
      ++symbol_;
    }
    const Address end = sized_end > start  ? sized_end
                        : start < covered_ ? start
                                           : unsized_end(start, fde);
    for (std::size_t i = first; i < symbol_; ++i) {
      if (!symbols_.exact_end(i)) {
        symbols_.set_length(i, end - start);
      }
    }
    covered_ = std::max(covered_, sized_end);
  }

  [[nodiscard]] Address unsized_end(Address start, const AddressRange* fde) const {
    Address end = std::min(next_symbol(symbol_), next_fde(fde_));
    end = std::min(end, sections_.end_behind(start));
    if (fde != nullptr && !fde->empty()) {
      end = std::min(end, fde->end);
    }
    return std::max(end, start);
  }

  SymbolList& symbols_;
  std::vector<AddressRange>& fdes_;
  SectionEnds sections_;
  std::size_t symbol_ = 0;
  std::size_t fde_ = 0;
  Address covered_ = 0;  // where the sized symbols seen so far end
};

}  // namespace

void resolve_bounds(SymbolList& symbols, std::vector<AddressRange> fdes,
                    const std::vector<AddressRange>& sections) {
  sort_fdes(fdes);
  Sweep(symbols, fdes, sections).run();
  symbols.merge_unnamed(fdes);
}

}  // namespace whocall
