// The one way to files whose paths come from outside.
#pragma once

#include <sys/stat.h>

#include <string>

namespace whocall {

// An open file, closed when it goes; a negative number is none.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  [[nodiscard]] int get() const { return number_; }
  // From now on it is the caller's.
  [[nodiscard]] int release();

 private:
  int number_;
};

struct RegularFile {
  int number;          // of a descriptor that is the caller's; -1 with `error`
  struct stat status;  // of what is open, or of what is there and is no regular file
  int error;           // errno; 0 where there is something else than a regular file
};

// Opens the regular file at `path` for reading. What is none is looked at and never opened: a
// device may act on that (a watchdog, a tape), and the writer of a fifo is let go and loses what it
// writes. Does not wait, and makes no terminal ours.
RegularFile try_regular(const std::string& path);

// The same. Throws Error, with a remedy.
int open_regular(const std::string& path, struct stat& status);

// Throws Error for what was done to `path` and went wrong with `error`.
[[noreturn]] void fail_with(const std::string& path, const std::string& what, int error);

}  // namespace whocall
