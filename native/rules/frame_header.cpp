#include "rules/frame_header.h"

namespace whocall::rules {

bool FrameHeader::is_in_order() const {
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < count_; ++i) {
    const std::uint64_t start = half(2 * i);
    if (start < before) {
      return false;
    }
    before = start;
  }
  return true;
}

}  // namespace whocall::rules
