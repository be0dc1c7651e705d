// Rules that were found, by return address: a table that all threads and signal handlers read and
// write without locks.
//
// When all entries are in use, the oldest makes room: who reads one makes sure afterwards that it
// is still that of the same address, as with a sequence lock, and who writes one has claimed it
// before. It holds the code before the address too: where a library was closed and another was
// opened in its place, what was known of the first is not taken for the second's.
//
// A walk that comes by for the first time leaves its entries one behind the other, and the next one
// will most often take the same way: a processor that looks at the following entry need not wait
// for anything to learn where that is. Where another walk was there first, each entry remembers
// where the last one went on from it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rules/frame_rule.h"

// How many rules are kept: 40 bytes each, beside 8 for finding them. A build may say otherwise.
#ifndef WHOCALL_RULES
#define WHOCALL_RULES 8192
#endif

namespace whocall::runtime {

class RuleCache {
 public:
  struct Entry {
    std::uintptr_t address = 0;
    std::uint64_t code = 0;  // the bytes before it
    rules::ShortRule rule{};
    std::uint32_t next = 0;  // an entry
  };
  // No return address is as low: an entry's, while it is written.
  static constexpr std::uintptr_t kWritten = 1;

  // Of no address; the first walk's entries follow it.
  [[nodiscard]] Entry* nobody() { return entries_.data(); }

  // `address` is one that was looked up in this process before, or lies in a module: the code
  // before it is read; it is above kWritten. False where there is none.
  [[nodiscard]] bool find(std::uintptr_t address, rules::ShortRule& rule) const {
    const Entry& found = entries_[number_of(address)];
    rule = found.rule;
    return is_still(found, address);
  }
  // The entry of an address, above kWritten, that was found behind the one of `last`; nobody's if
  // there is none. What is read from it then holds if `is_still` says so afterwards.
  [[nodiscard]] Entry* find_behind(Entry* last, std::uintptr_t address) {
    if (holds(last[1], address)) [[likely]] {
      return last + 1;
    }
    return find_elsewhere(*last, address);
  }
  [[nodiscard]] static bool is_still(const Entry& entry, std::uintptr_t address) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&entry.address, __ATOMIC_RELAXED) == address;
  }

  void put(std::uintptr_t address, const rules::ShortRule& rule) {
    const std::uint32_t turn = __atomic_fetch_add(&used_, 1, __ATOMIC_RELAXED);
    const std::uint32_t number = turn % (kEntries - 1) + 1;
    Entry& entry = entries_[number];
    std::uintptr_t before = __atomic_load_n(&entry.address, __ATOMIC_RELAXED);
    if (address <= kWritten || before == kWritten ||
        !__atomic_compare_exchange_n(&entry.address, &before, kWritten, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
      return;
    }
    __atomic_thread_fence(__ATOMIC_RELEASE);
    entry.code = code_before(address);
    entry.rule = rule;
    store(entry.next, kNone);
    // From here on a walk may find it, behind the entry before.
    __atomic_store_n(&entry.address, address, __ATOMIC_RELEASE);
    store(places_[place_for(address)], number);
  }

  void clear() {
    for (std::uint32_t& at : places_) {
      store(at, kNone);
    }
    for (Entry& entry : entries_) {
      std::uintptr_t before = __atomic_load_n(&entry.address, __ATOMIC_RELAXED);
      if (before != kWritten) {
        __atomic_compare_exchange_n(&entry.address, &before, 0, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
      }
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0;

  [[gnu::noinline]] Entry* find_elsewhere(Entry& last, std::uintptr_t address) {
    std::uint32_t found = load(last.next);
    if (!holds(entries_[found], address)) {
      found = number_of(address);
      store(last.next, found);
    }
    return &entries_[found];
  }

  [[nodiscard]] std::uint32_t number_of(std::uintptr_t address) const {
    for (std::uint32_t i = 0; i < kProbes; ++i) {
      const std::uint32_t number = load(places_[place(address, i)]);
      if (number == kNone || holds(entries_[number], address)) {
        return number;
      }
    }
    return kNone;
  }

  // Where its entry's number is to stand: a place that no other address needs, or else the first.
  [[nodiscard]] std::uint32_t place_for(std::uintptr_t address) const {
    for (std::uint32_t i = 0; i < kProbes; ++i) {
      const std::uint32_t here = place(address, i);
      const std::uint32_t there = load(places_[here]);
      const std::uintptr_t other = __atomic_load_n(&entries_[there].address, __ATOMIC_RELAXED);
      if (there == kNone || other <= kWritten || other == address ||
          ((here - place(other, 0)) & kPlaceMask) >= kProbes) {
        return here;
      }
    }
    return place(address, 0);
  }

  static constexpr std::uint32_t kEntries = WHOCALL_RULES;
  static_assert(std::has_single_bit(kEntries) && kEntries >= 64 && kEntries <= 1U << 20U,
                "WHOCALL_RULES is a power of two, 64 to 1048576");
  static constexpr unsigned kPlaceBits = std::bit_width(kEntries);
  static constexpr std::uint32_t kPlaceMask = (1U << kPlaceBits) - 1;
  static constexpr std::uint32_t kProbes = 8;

  static std::uint32_t place(std::uintptr_t address, std::uint32_t probe) {
    const std::uint64_t mixed = address * std::uint64_t{0x9e3779b97f4a7c15};
    return (static_cast<std::uint32_t>(mixed >> (64U - kPlaceBits)) + probe) & kPlaceMask;
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
