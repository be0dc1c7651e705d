// Several memories, one over the other.
#pragma once

#include <memory>
#include <vector>

#include "memory/memory.h"

namespace whocall {

// The first layer that can answer does: a core's bytes over those of the files that were mapped.
// Layers above may begin anywhere at a page boundary, so a run from a lower layer ends at the next
// 4 KiB boundary at the latest: it never shows bytes that a layer above knows better.
class LayeredMemory final : public Memory {
 public:
  explicit LayeredMemory(std::vector<std::unique_ptr<Memory>> layers);

  [[nodiscard]] std::span<const std::byte> run_at(Address address) const override;

 private:
  std::vector<std::unique_ptr<Memory>> layers_;
};

}  // namespace whocall
