// An allocator for vectors of many megabytes that are written once from end to end.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace whocall {

// From a few megabytes on, asks the kernel for pages of 2 MiB: a sort that scatters a million
// items over pages of 4 KiB spends a third of its time on faults and on misses of the TLB. Items
// that `resize` or a count makes are left as they are, unset: they are to be written next.
template <typename Item>
class LargeBlocks {
 public:
  static_assert(std::is_trivially_copyable_v<Item>);
  using value_type = Item;

  LargeBlocks() = default;
  template <typename Other>
  explicit LargeBlocks(const LargeBlocks<Other>& /*other*/) {}

  Item* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(Item);
    if (bytes < kLarge) {
      return static_cast<Item*>(::operator new(bytes));
    }
    const std::size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    void* block = rounded < bytes ? nullptr : std::aligned_alloc(kHugePage, rounded);
    if (block == nullptr) {
      throw std::bad_alloc();
    }
    ::madvise(block, rounded, MADV_HUGEPAGE);  // a hint: small pages do as well
    return static_cast<Item*>(block);
  }
  void deallocate(Item* items, std::size_t count) {
    if (count * sizeof(Item) < kLarge) {
      ::operator delete(items);
    } else {
      std::free(items);
    }
  }

  template <typename Made, typename... Arguments>
  void construct(Made* at, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) != 0) {
      ::new (static_cast<void*>(at)) Made(std::forward<Arguments>(arguments)...);
    }
  }

  friend bool operator==(const LargeBlocks& /*left*/, const LargeBlocks& /*right*/) { return true; }

 private:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  static constexpr std::size_t kLarge = std::size_t{4} << 20U;
};

}  // namespace whocall
