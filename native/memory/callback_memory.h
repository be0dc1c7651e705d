// Memory that somebody else reads for us: gdb, a test, a Python function.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "memory/paged_memory.h"

namespace whocall {

class CallbackMemory final : public PagedMemory {
 public:
  // Reads up to `size` bytes at a runtime address; returns what could be read from the start on.
  using Reader = std::function<std::vector<std::byte>(Address address, std::size_t size)>;

  explicit CallbackMemory(Reader reader);

 private:
  std::size_t fetch(Address address, std::span<std::byte> out) const override;

  Reader reader_;
};

}  // namespace whocall
