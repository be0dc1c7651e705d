// Memory that notes what was read of it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/address.h"
#include "base/joined_ranges.h"
#include "memory/memory.h"

namespace whocall {

// Which words of 8 bytes were read. May be used from threads.
class ReadWords {
 public:
  static constexpr std::uint64_t kSize = 8;  // bytes of a word, at an address that it divides

  void add(Address address);
  [[nodiscard]] JoinedRanges so_far() const;

 private:
  static constexpr std::uint64_t kPage = 4096;  // bytes
  using Marks = std::array<std::uint64_t, kPage / kSize / 64>;

  mutable std::mutex mutex_;                  // guards what follows
  std::unordered_map<Address, Marks> pages_;  // by the page's begin
};

// Hands out one word after the other, so that nothing is noted that nobody looked at.
class RecordedMemory final : public Memory {
 public:
  RecordedMemory(std::unique_ptr<Memory> memory, std::shared_ptr<ReadWords> words)
      : memory_(std::move(memory)), words_(std::move(words)) {}

  [[nodiscard]] std::span<const std::byte> run_at(Address address) const override;

 private:
  std::unique_ptr<Memory> memory_;
  std::shared_ptr<ReadWords> words_;
};

}  // namespace whocall
