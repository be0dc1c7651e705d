// Which signals reach a thread while it makes a report.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "runtime/crash/signals.h"

namespace whocall::runtime {

inline constexpr std::size_t kKernelMask = _NSIG / 8;  // bytes, of the kernel's masks of signals

// What writing to a pipe that nobody reads, or beyond a limit of files, brings on the thread: the
// program knows nothing of either. All signals are blocked in the handler.
class WritersSignals {
 public:
  WritersSignals() {
    sigset_t before;
    sigemptyset(&before);
    syscall(SYS_rt_sigpending, &before, kKernelMask);
    sigemptyset(&mine_);
    for (const int signal : {SIGPIPE, SIGXFSZ}) {
      if (sigismember(&before, signal) == 0) {
        sigaddset(&mine_, signal);
      }
    }
  }
  WritersSignals(const WritersSignals&) = delete;
  WritersSignals& operator=(const WritersSignals&) = delete;
  ~WritersSignals() {
    const std::uint64_t at_once[2] = {};  // a struct timespec, however wide the kernel's is
    while (syscall(SYS_rt_sigtimedwait, &mine_, nullptr, at_once, kKernelMask) > 0) {
    }
  }

 private:
  sigset_t mine_;
};

// All signals but those of a crash, which tell that the report crashes itself.
class ReportersMask {
 public:
  ReportersMask() {
    sigset_t mask;
    sigfillset(&mask);
    for (const int signal : kCrashSignals) {
      sigdelset(&mask, signal);
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before_, kKernelMask);
  }
  ReportersMask(const ReportersMask&) = delete;
  ReportersMask& operator=(const ReportersMask&) = delete;
  ~ReportersMask() { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, kKernelMask); }

 private:
  sigset_t before_{};
};

}  // namespace whocall::runtime
