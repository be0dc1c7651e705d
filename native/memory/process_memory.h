// The memory of a live process, through /proc/PID/mem.
#pragma once

#include <cstdint>

#include "memory/paged_memory.h"

namespace whocall {

// The process must stand still while the object lives: pages are read once and kept.
class ProcessMemory final : public PagedMemory {
 public:
  // Throws Error when the process does not exist or may not be read.
  explicit ProcessMemory(std::int64_t pid);
  ~ProcessMemory() override;

 private:
  std::size_t fetch(Address address, std::span<std::byte> out) const override;

  int file_ = -1;
};

}  // namespace whocall
