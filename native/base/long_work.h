// What a long computation is about, for people who wait for it.
#pragma once

#include <string>
#include <string_view>

namespace whocall {

// Stands on the stack while the work goes on; the innermost of a thread is what the thread does.
// Telling is the business of whoever set the check of interrupt.h, which long work asks now and
// then. Costs nothing: the texts are looked at, not copied, and have to outlive the object.
class LongWork {
 public:
  // "Reading the symbols of", "/usr/bin/prog".
  LongWork(std::string_view doing, std::string_view what);
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;
  ~LongWork();

  // What this thread does and has not been told of yet; empty when there is nothing to tell.
  static std::string take_untold();

 private:
  LongWork* outer_;
  std::string_view doing_;
  std::string_view what_;
  bool told_ = false;
};

}  // namespace whocall
