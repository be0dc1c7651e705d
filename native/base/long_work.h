// What a long computation is about, for people who wait for it.
#pragma once

#include <cstddef>
#include <optional>
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

  // Of so many parts some are done.
  void reached(std::size_t done, std::size_t total) {
    done_ = done;
    total_ = total;
  }

  // "Reading the symbols of /usr/bin/prog", and what share of it is done, 0 to 1, where it knows.
  struct State {
    std::string what;
    std::optional<double> share;
  };
  // What this thread does; a miss when that is no long work.
  static std::optional<State> innermost();

 private:
  LongWork* outer_;
  std::string_view doing_;
  std::string_view what_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;  // 0: not known
};

}  // namespace whocall
