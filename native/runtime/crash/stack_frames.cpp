#include "runtime/crash/stack_frames.h"

namespace whocall::runtime {

void StackFrames::walk(CarefulWalk walk) {
  all_ = 0;
  end_ = WalkEnd::too_many;
  while (all_ < kMostWalked) {
    frames_.data()[slot(all_++)] = {walk.address(), walk.trust(), walk.exact()};
    if (!walk.next()) {
      end_ = walk.end();
      return;
    }
  }
}

const KeptFrame& StackFrames::operator[](std::size_t place) const {
  return frames_.data()[slot(number(place))];
}

}  // namespace whocall::runtime
