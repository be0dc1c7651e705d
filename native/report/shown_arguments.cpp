#include "report/shown_arguments.h"

#include <algorithm>

namespace whocall {
namespace {

constexpr std::size_t kMostWithArguments = 512;  // frames: nobody reads those of more

}  // namespace

const FrameArguments* ShownArguments::of(const ThreadTrace& trace, const FrameFacts& facts) {
  if (facts.named().inlined()) {
    return nullptr;
  }
  if (walk_ != trace.walk) {
    walk_ = trace.walk;
    find(trace);
  }
  const auto index = static_cast<std::size_t>(facts.named().frame - trace.walk->frames().data());
  return index < found_.size() && found_[index].known ? &found_[index] : nullptr;
}

void ShownArguments::find(const ThreadTrace& trace) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < trace.shown.count;
       i += std::max<std::size_t>(trace.shown.count - 1, 1)) {
    const NamedFrame& named = trace.frame(i).named();
    last = std::max(last, static_cast<std::size_t>(named.frame - trace.walk->frames().data()));
  }
  found_ = arguments_of_frames(code_, *trace.thread, trace.walk->frames(),
                               std::min(last + 1, kMostWithArguments));
}

}  // namespace whocall
