// Memory that has to be fetched: read page by page and kept.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "memory/memory.h"

namespace whocall {

inline constexpr std::size_t kPageSize = 4096;  // bytes

// Fetches whole 4 KiB pages, each once. What was fetched stays, so runs remain valid; what could
// not be fetched is remembered as well. Not for use by two threads at a time.
class PagedMemory : public Memory {
 public:
  PagedMemory();
  ~PagedMemory() override;

  [[nodiscard]] std::span<const std::byte> run_at(Address address) const final;

 protected:
  // Fills `out` from `address` on; returns how many bytes could be had from the start on. Never
  // asked to cross a page boundary.
  virtual std::size_t fetch(Address address, std::span<std::byte> out) const = 0;

 private:
  struct Page;
  Page& page_at(Address begin) const;
  void probe(Page& page, Address begin, std::size_t offset) const;

  mutable std::unordered_map<Address, std::unique_ptr<Page>> pages_;
  mutable Page* last_page_ = nullptr;
  mutable Address last_begin_ = 0;
};

}  // namespace whocall
