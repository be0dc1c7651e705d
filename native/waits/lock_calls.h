// Which function of a library a thread waits in, by the names of the functions around the wait.
#pragma once

#include <string>

#include "unwind/walk/walker.h"

namespace whocall {

enum class LockCall : std::uint8_t {
  none,  // no function that is known here
  mutex,
  read_lock,   // of a reader-writer lock
  write_lock,  // likewise
  condition,
  semaphore,
  join,
  barrier,
  once,
  future,          // the shared state of libstdc++'s futures
  rust_mutex,      // Rust's own, which keep no owner
  rust_read,       // likewise
  rust_write,      // likewise
  rust_condition,  // likewise
  rust_park,
  rust_once,
  go_note,  // what Go's runtime lets its threads sleep at
  go_lock,  // of Go's runtime
};

struct WaitingFunction {
  LockCall call = LockCall::none;
  // Of the function that was recognised, without decoration; else of the innermost one that has a
  // name and calls the kernel in the same library.
  std::string name{};
  // The kernel was called by syscall(), which others than the C library use.
  bool by_syscall = false;
};

class LockCalls {
 public:
  // Both must outlive it.
  LockCalls(Walker& walker, Symbolizer& symbolizer) : walker_(walker), symbolizer_(symbolizer) {}

  // The innermost function that is known here: of the frames of the library that calls the kernel,
  // and no further than the first function of another name. A frame is called what its symbol says,
  // and what the call says by which it was entered: slow paths have no names, and are jumped to.
  WaitingFunction find(const Thread& thread);

 private:
  [[nodiscard]] const Place& place(const Frame& frame);
  [[nodiscard]] std::string called_name(const Frame& caller);

  Walker& walker_;
  Symbolizer& symbolizer_;
};

}  // namespace whocall
