#include "packing/headed_source.h"

#include <algorithm>

namespace whocall {

std::size_t HeadedSource::read(std::span<std::byte> room) {
  if (given_ == head_.size()) {
    return source_.read(room);
  }
  const std::size_t size = std::min(room.size(), head_.size() - given_);
  std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(given_), size, room.begin());
  given_ += size;
  return size;
}

}  // namespace whocall
