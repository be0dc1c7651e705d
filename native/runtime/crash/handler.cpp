#include "runtime/crash/handler.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <cerrno>

#include "runtime/crash/crash.h"
#include "runtime/crash/other_threads.h"
#include "runtime/crash/reporter.h"
#include "runtime/crash/signals.h"
#include "runtime/machine.h"

namespace whocall::runtime {
namespace {

constexpr std::size_t kKernelMask = _NSIG / 8;  // bytes, of the kernel's masks of signals
constexpr int kShortWait = 20;                  // moments, of half a millisecond
constexpr int kLongWait = 20'000;               // moments that a thread waits for its turn: 10 s

Reporter reporter;
struct sigaction earlier[kCrashSignals.size()];  // what was there before

std::atomic<pid_t> owner{0};       // the thread that makes a report
std::atomic<int> waiting{0};       // threads that crashed meanwhile
std::atomic<pid_t> first{0};       // the first thread whose crash ends the process
std::uintptr_t last_reported = 0;  // pc: a handler that lets the same instruction crash again

struct sigaction& earlier_of(int signal) {
  std::size_t place = 0;
  while (place + 1 < kCrashSignals.size() && kCrashSignals.data()[place] != signal) {
    ++place;
  }
  return earlier[place];
}

bool is_function(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void call(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  sigset_t before;
  sigset_t meanwhile = action.sa_mask;
  if ((action.sa_flags & SA_NODEFER) == 0) {
    sigaddset(&meanwhile, signal);
  }
  // As the kernel would: what was blocked where the signal came, and what the handler asks for.
  const auto& interrupted = static_cast<ucontext_t*>(context)->uc_sigmask;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &interrupted, &before, kKernelMask);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &meanwhile, nullptr, kKernelMask);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, kKernelMask);
}

// The signal again, with all that was told of it: it waits until the handler has returned, so that
// the core shows the registers and the stack of the crash, and not of the handler.
void let_it_come_again(const Crash& crash) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, crash.signal);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, nullptr, kKernelMask);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(crash.signal, &action, nullptr);
  siginfo_t info = crash.info;
  if (syscall(SYS_rt_tgsigqueueinfo, crash.process, crash.thread, crash.signal, &info) != 0) {
    syscall(SYS_tgkill, crash.process, crash.thread, crash.signal);
  }
}

// Threads that crashed at the same time are heard before the process ends.
void wait_for_others() {
  for (int i = 0, idle = 0; i < kLongWait && idle < kShortWait; ++i) {
    idle = waiting.load() == 0 && owner.load() == 0 ? idle + 1 : 0;
    wait_a_moment();
  }
}

void take_course(const Crash& crash, siginfo_t* info, void* context) {
  struct sigaction& before = earlier_of(crash.signal);
  if (is_function(before)) {
    const struct sigaction action = before;
    if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
      before = {};
    }
    call(action, crash.signal, info, context);
    return;
  }
  if (before.sa_handler == SIG_IGN && was_sent(crash.info.si_code)) {
    return;
  }
  pid_t nobody = 0;
  if (!first.compare_exchange_strong(nobody, crash.thread) && nobody != crash.thread) {
    // The core is of the first one's signal; this thread is in it as it is.
    for (int i = 0; i < kLongWait; ++i) {
      wait_a_moment();
    }
  }
  wait_for_others();
  let_it_come_again(crash);
}

void take_turn(pid_t thread) {
  waiting.fetch_add(1);
  pid_t nobody = 0;
  for (int i = 0; i < kLongWait && !owner.compare_exchange_strong(nobody, thread); ++i) {
    nobody = 0;
    wait_a_moment();
  }
  waiting.fetch_sub(1);
}

void handle(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  // Writing is where a thread may be cancelled.
  int cancellation = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
  if (owner.load() == thread) {
    reporter.give_up_stage(signal, info->si_addr);
  }
  const Crash crash{.signal = signal,
                    .info = *info,
                    .context = static_cast<const ucontext_t*>(context),
                    .process = getpid(),
                    .thread = thread};
  take_turn(thread);
  const std::uintptr_t pc = point_of(*crash.context).pc;
  if (pc != last_reported || !is_function(earlier_of(signal))) {
    last_reported = pc;
    reporter.report(crash);
  }
  owner.store(0);
  pthread_setcancelstate(cancellation, nullptr);
  take_course(crash, info, context);
  errno = kept;
}

}  // namespace

int install_handlers(const whocall_crash_options& options) {
  if (reporter.output().set(options) != 0) {
    return -1;
  }
  if (options.all_threads != 0 && listen_for_questions() != 0) {
    return -1;
  }
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigfillset(&action.sa_mask);
  for (const int signal : kCrashSignals) {
    sigdelset(&action.sa_mask, signal);
  }
  for (const int signal : kCrashSignals) {
    struct sigaction before {};
    if (sigaction(signal, &action, &before) != 0) {
      return -1;
    }
    if (before.sa_sigaction != handle) {
      earlier_of(signal) = before;
    }
  }
  return 0;
}

}  // namespace whocall::runtime
