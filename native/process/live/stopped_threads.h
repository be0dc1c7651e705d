// Holds all threads of a live process still, by ptrace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arch/architecture.h"

namespace whocall {

struct StoppedThread {
  std::int64_t lwp = 0;
  std::vector<std::byte> registers;  // the regset NT_PRSTATUS; empty when it could not be read
  std::uint64_t signature_bits = 0;  // of code pointers; 0 where they hold no signature
  bool stopped = false;              // false: it did not stop in time (uninterruptible sleep)
};

// Stops every thread at construction and lets them go on at destruction, which may happen in any
// thread: ptrace belongs to the thread that attached, so a thread of our own does all of it. If
// it should end early, for whatever reason, the kernel lets the process go on.
class StoppedThreads {
 public:
  // Throws Error when the process is gone, is traced by another debugger, or may not be traced.
  // Threads that come to life meanwhile are stopped too; waits a few seconds at the longest.
  StoppedThreads(std::int64_t pid, const Architecture& arch);
  StoppedThreads(const StoppedThreads&) = delete;
  StoppedThreads& operator=(const StoppedThreads&) = delete;
  ~StoppedThreads();

  [[nodiscard]] const std::vector<StoppedThread>& threads() const;  // by thread id

 private:
  struct Tracer;
  std::unique_ptr<Tracer> tracer_;
};

}  // namespace whocall
