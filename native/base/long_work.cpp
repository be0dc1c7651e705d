#include "base/long_work.h"

namespace whocall {
namespace {

thread_local LongWork* the_innermost = nullptr;

}  // namespace

LongWork::LongWork(std::string_view doing, std::string_view what)
    : outer_(the_innermost), doing_(doing), what_(what) {
  the_innermost = this;
}

LongWork::~LongWork() { the_innermost = outer_; }

std::optional<LongWork::State> LongWork::innermost() {
  if (the_innermost == nullptr) {
    return std::nullopt;
  }
  State state{std::string(the_innermost->doing_).append(1, ' ').append(the_innermost->what_), {}};
  if (the_innermost->total_ != 0) {
    state.share =
        static_cast<double>(the_innermost->done_) / static_cast<double>(the_innermost->total_);
  }
  return state;
}

}  // namespace whocall
