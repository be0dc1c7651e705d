#include "memory/callback_memory.h"

#include <algorithm>
#include <utility>

namespace whocall {

CallbackMemory::CallbackMemory(Reader reader) : reader_(std::move(reader)) {}

std::size_t CallbackMemory::fetch(Address address, std::span<std::byte> out) const {
  if (!reader_) {
    return 0;
  }
  const auto bytes = reader_(address, out.size());
  const std::size_t count = std::min(bytes.size(), out.size());
  std::copy_n(bytes.begin(), count, out.begin());
  return count;
}

}  // namespace whocall
