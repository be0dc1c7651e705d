#include "memory/layered_memory.h"

#include <algorithm>
#include <utility>

#include "memory/paged_memory.h"

namespace whocall {

LayeredMemory::LayeredMemory(std::vector<std::unique_ptr<Memory>> layers)
    : layers_(std::move(layers)) {}

std::span<const std::byte> LayeredMemory::run_at(Address address) const {
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    const auto run = layers_[layer]->run_at(address);
    if (run.empty()) {
      continue;
    }
    const std::size_t to_page_end = kPageSize - address % kPageSize;
    return layer == 0 ? run : run.first(std::min(run.size(), to_page_end));
  }
  return {};
}

}  // namespace whocall
