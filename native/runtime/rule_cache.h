// Rules that were found, by return address: a table that all threads and signal handlers read and
// write without locks.
//
// An entry is written once, before anyone can find it, and its place is never another's; when there
// is no room left, nothing more is kept. It holds the code before the address too: where a library
// was closed and another was opened in its place, what was known of the first is not taken for the
// second's.
//
// A walk that comes by for the first time leaves its entries one behind the other, and the next one
// will most often take the same way: a processor that looks at the following entry need not wait
// for anything to learn where that is. Where another walk was there first, each entry remembers
// where the last one went on from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rules/frame_rule.h"

namespace whocall::runtime {

class RuleCache {
 public:
  struct Entry {
    std::uintptr_t address = 0;
    std::uint64_t code = 0;  // the bytes before it
    rules::ShortRule rule{};
    std::uint32_t next = 0;  // an entry
  };
  static constexpr std::uint32_t kNone = 0;

  [[nodiscard]] const Entry& entry(std::uint32_t number) const { return entries_[number]; }
  // Of no address; the first walk's entries follow it.
  [[nodiscard]] Entry* nobody() { return entries_.data(); }

  // `address` is one that was looked up in this process before, or lies in a module: the code
  // before it is read.
  [[nodiscard]] std::uint32_t find(std::uintptr_t address) const {
    for (std::uint32_t i = 0; i < kProbes; ++i) {
      const std::uint32_t number = load(places_[place(address, i)]);
      if (number == kNone || holds(number, address)) {
        return number;
      }
    }
    return kNone;
  }
  // The same, of an address that was found behind the one of `last`; nobody's if there is none.
  [[nodiscard]] Entry* find_behind(Entry* last, std::uintptr_t address) {
    if (holds(last[1], address)) [[likely]] {
      return last + 1;
    }
    return find_elsewhere(*last, address);
  }

  void put(std::uintptr_t address, const rules::ShortRule& rule) {
    if (load(used_) >= kEntries - 1) {
      return;
    }
    for (std::uint32_t i = 0; i < kProbes; ++i) {
      std::uint32_t& at = places_[place(address, i)];
      const std::uint32_t there = load(at);
      if (there != kNone && entries_[there].address != address) {
        continue;
      }
      const std::uint32_t number = __atomic_add_fetch(&used_, 1, __ATOMIC_RELAXED);
      if (number < kEntries) {
        Entry& entry = entries_[number];
        entry.code = code_before(address);
        entry.rule = rule;
        // From here on a walk may find it, behind the entry before.
        __atomic_store_n(&entry.address, address, __ATOMIC_RELEASE);
        store(at, number);
      }
      return;
    }
  }

  void clear() {
    for (std::uint32_t& at : places_) {
      store(at, kNone);
    }
    for (Entry& entry : entries_) {
      __atomic_store_n(&entry.address, 0, __ATOMIC_RELEASE);
      store(entry.next, kNone);
    }
  }

 private:
  [[gnu::noinline]] Entry* find_elsewhere(Entry& last, std::uintptr_t address) {
    std::uint32_t found = load(last.next);
    if (!holds(found, address)) {
      found = find(address);
      store(last.next, found);
    }
    return &entries_[found];
  }

  static constexpr std::uint32_t kEntries = 1U << 13U;
  static constexpr unsigned kPlaceBits = 14;
  static constexpr std::uint32_t kProbes = 8;

  static std::uint32_t place(std::uintptr_t address, std::uint32_t probe) {
    const std::uint64_t mixed = address * std::uint64_t{0x9e3779b97f4a7c15};
    return (static_cast<std::uint32_t>(mixed >> (64U - kPlaceBits)) + probe) &
           ((1U << kPlaceBits) - 1);
  }

  static std::uint64_t code_before(std::uintptr_t address) {
    std::uint64_t code = 0;
    std::memcpy(&code, reinterpret_cast<const void*>(address - sizeof code), sizeof code);
    return code;
  }
  [[nodiscard]] static bool holds(const Entry& entry, std::uintptr_t address) {
    return __atomic_load_n(&entry.address, __ATOMIC_ACQUIRE) == address &&
           entry.code == code_before(address);
  }
  [[nodiscard]] bool holds(std::uint32_t number, std::uintptr_t address) const {
    return holds(entries_[number], address);
  }

  static std::uint32_t load(const std::uint32_t& number) {
    return __atomic_load_n(&number, __ATOMIC_ACQUIRE);
  }
  static void store(std::uint32_t& number, std::uint32_t value) {
    __atomic_store_n(&number, value, __ATOMIC_RELEASE);
  }

  std::array<std::uint32_t, std::size_t{1} << kPlaceBits> places_{};  // entries, by address
  std::array<Entry, kEntries + 1> entries_{};  // the first and the last are nobody's
  std::uint32_t used_ = 0;
};

}  // namespace whocall::runtime
