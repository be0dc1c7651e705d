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

std::string LongWork::take_untold() {
  if (the_innermost == nullptr || the_innermost->told_) {
    return {};
  }
  the_innermost->told_ = true;
  return std::string(the_innermost->doing_).append(1, ' ').append(the_innermost->what_);
}

}  // namespace whocall
