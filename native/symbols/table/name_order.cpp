#include "symbols/table/name_order.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/byte_view.h"
#include "base/interrupt.h"
#include "base/sort_by_address.h"

namespace whocall {
namespace {

constexpr std::size_t kChunk = 8;
constexpr std::size_t kFew = 16;  // as few are compared pair by pair

// Items that share the bytes of their name: they stand together in a list.
struct Shared {
  std::uint64_t chunk = 0;  // those bytes of the name that are being compared
  std::uint32_t first = 0;  // index in that list
  std::uint32_t count = 0;
};

// A run of names that agree in their first `depth` bytes.
struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t depth = 0;
};

// The first byte becomes the highest, so that numbers are in the order of the alphabet.
std::uint64_t chunk_at(const NamedItem& item, std::size_t depth) {
  std::uint64_t chunk = 0;
  std::memcpy(&chunk, item.name + depth, std::min<std::size_t>(kChunk, item.size - depth));
  return std::endian::native == std::endian::little ? swap_bytes(chunk) : chunk;
}

// The names of one length.
class Sorter {
 public:
  Sorter(const NamedItems& items, std::size_t begin, std::size_t end)
      : items_(items), size_(items[begin].size) {
    names_.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      if (!names_.empty() && items[names_.back().first].name == items[i].name) {
        ++names_.back().count;
      } else {
        names_.push_back({0, static_cast<std::uint32_t>(i), 1});
      }
    }
    runs_.push_back({0, names_.size(), 0});
  }

  // Appends the items in their order.
  void run(NamedItems& sorted) {
    while (!runs_.empty()) {
      const Run run = runs_.back();
      runs_.pop_back();
      if (run.end - run.begin <= kFew) {
        sort_few(run);
      } else if (const std::size_t depth = agreed(run); depth < size_) {
        sort_many(run, depth);
      }
    }
    for (const Shared& name : names_) {
      const auto first = items_.begin() + name.first;
      sorted.insert(sorted.end(), first, first + name.count);
    }
  }

 private:
  void sort_few(const Run& run) {
    const auto rest = [&](const Shared& name) {
      return items_[name.first].text().substr(std::min(run.depth, size_));
    };
    std::stable_sort(
        names_.begin() + static_cast<std::ptrdiff_t>(run.begin),
        names_.begin() + static_cast<std::ptrdiff_t>(run.end),
        [&](const Shared& left, const Shared& right) { return rest(left) < rest(right); });
  }

  // In how many first bytes the names agree.
  std::size_t agreed(const Run& run) {
    const char* first = items_[names_[run.begin].first].name;
    std::size_t depth = std::min(run.depth, size_);
    std::size_t most = size_ - depth;
    for (std::size_t i = run.begin + 1; i < run.end && most != 0; ++i) {
      check_interrupt_at(turn_++, kManyEntries);
      const char* name = items_[names_[i].first].name;
      if (std::memcmp(first + depth, name + depth, most) != 0) {
        const auto differs = std::mismatch(first + depth, first + depth + most, name + depth);
        most = static_cast<std::size_t>(differs.first - first) - depth;
      }
    }
    return depth + most;
  }

  void sort_many(const Run& run, std::size_t depth) {
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(run.begin);
    const auto end = names_.begin() + static_cast<std::ptrdiff_t>(run.end);
    for (auto name = begin; name != end; ++name) {
      check_interrupt_at(turn_++, kManyEntries);
      name->chunk = chunk_at(items_[name->first], depth);
    }
    const auto chunk_of = [](const Shared& name) { return name.chunk; };
    if (run.end - run.begin == names_.size()) {
      sort_by_address(names_, chunk_of);
    } else {
      part_.assign(begin, end);
      sort_by_address(part_, chunk_of);
      std::copy(part_.begin(), part_.end(), begin);
    }
    for (std::size_t first = run.begin; first < run.end;) {
      std::size_t last = first + 1;
      while (last < run.end && names_[last].chunk == names_[first].chunk) {
        ++last;
      }
      if (last - first > 1) {
        runs_.push_back({first, last, depth + kChunk});
      }
      first = last;
    }
  }

  using Names = std::vector<Shared, LargeBlocks<Shared>>;

  const NamedItems& items_;
  Names names_;
  Names part_;
  std::vector<Run> runs_;  // still to be sorted
  std::size_t size_;
  std::size_t turn_ = 0;
};

}  // namespace

void sort_by_name(NamedItems& items) {
  sort_by_address(items,
                  [](const NamedItem& item) { return std::bit_cast<std::uintptr_t>(item.name); });
  sort_by_address(items, [](const NamedItem& item) { return Address{item.size}; });
  NamedItems sorted;
  sorted.reserve(items.size());
  for (std::size_t first = 0; first < items.size();) {
    std::size_t last = first + 1;
    while (last < items.size() && items[last].size == items[first].size) {
      ++last;
    }
    Sorter(items, first, last).run(sorted);
    first = last;
  }
  items.swap(sorted);
}

}  // namespace whocall
