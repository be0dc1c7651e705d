// Memory that consists of known pieces: the segments of a core, the loaded parts of files.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/address.h"
#include "memory/memory.h"

namespace whocall {

// Sorted, disjoint pieces over bytes that others own; nothing is copied. A look-up is a binary
// search, and none at all when it hits the same piece as the one before (a walk reads one stack).
// Immutable, so several threads may read it at the same time.
class SegmentMemory final : public Memory {
 public:
  struct Segment {
    Address begin = 0;  // runtime address of the first byte
    std::span<const std::byte> bytes;
  };

  // Segments in any order. Where two overlap, the one that begins lower keeps the bytes, and of
  // two that begin together the first given. Bytes beyond the end of the address space are left
  // out. `owners` live as long as the memory: they hold the bytes.
  explicit SegmentMemory(std::vector<Segment> segments,
                         std::vector<std::shared_ptr<const void>> owners = {});

  [[nodiscard]] std::span<const std::byte> run_at(Address address) const override;
  [[nodiscard]] std::span<const Segment> segments() const { return segments_; }

 private:
  std::vector<Segment> segments_;
  std::vector<std::shared_ptr<const void>> owners_;
  mutable std::atomic<std::size_t> last_hit_{0};  // index; any value is only slower
};

}  // namespace whocall
