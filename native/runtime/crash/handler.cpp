#include "runtime/crash/handler.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>

#include "runtime/crash/actions.h"
#include "runtime/crash/crash.h"
#include "runtime/crash/handled.h"
#include "runtime/crash/handler_stack.h"
#include "runtime/crash/held_threads.h"
#include "runtime/crash/masks.h"
#include "runtime/crash/other_threads.h"
#include "runtime/crash/questions_by_signal.h"
#include "runtime/crash/reporter.h"
#include "runtime/crash/signals.h"
#include "runtime/machine.h"

namespace whocall::runtime {
namespace {

constexpr int kShortWait = 20;     // moments, of half a millisecond
constexpr int kLongWait = 40'000;  // moments that a thread waits for its turn: 20 s

// Made where handlers are installed: as an object that is there from the beginning it would take
// its 24 KiB in the program's file, too.
alignas(Reporter) std::byte room_for_reporter[sizeof(Reporter)];
bool has_reporter = false;
Reporter& reporter() { return *std::launder(reinterpret_cast<Reporter*>(room_for_reporter)); }

bool first_of_all = false;  // the report is made before the program's own handlers are called

std::atomic<pid_t> process{0};  // whose what follows is
std::atomic<pid_t> owner{0};    // the thread that makes a report
std::atomic<int> waiting{0};    // threads that crashed meanwhile
std::atomic<pid_t> first{0};    // the first thread whose crash ends the process
siginfo_t put_off{};            // of a signal from outside that came meanwhile; si_signo 0: none

// A handler may let the same instruction crash again.
struct Place {
  pid_t thread = 0;
  std::uintptr_t pc = 0;
  std::uintptr_t sp = 0;

  bool operator==(const Place&) const = default;
};
Place last_reported;

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
  restore_default(crash.signal);
  siginfo_t info = crash.info;
  if (syscall(SYS_rt_tgsigqueueinfo, crash.process, crash.thread, crash.signal, &info) != 0) {
    syscall(SYS_tgkill, crash.process, crash.thread, crash.signal);
  }
}

// For a report that may hang; a receiver that has one answers, or is given up.
bool may_wait(int moments) { return moments < kLongWait || reporter().is_telling(); }

// Threads that crashed at the same time are heard before the process ends.
void wait_for_others() {
  for (int i = 0, idle = 0; may_wait(i) && idle < kShortWait; ++i) {
    idle = waiting.load() == 0 && owner.load() == 0 ? idle + 1 : 0;
    wait_a_moment();
  }
}

// In the child of a fork, or of a vfork, which shares its parent's memory: what another process'
// threads were at is nothing to wait for.
void begin_in(pid_t own) {
  constexpr pid_t kNobody = -1;
  for (int i = 0; i < kShortWait && process.load() != own; ++i) {
    pid_t known = process.load();
    if (known != kNobody && process.compare_exchange_strong(known, kNobody)) {
      owner.store(0);
      waiting.store(0);
      first.store(0);
      put_off = {};
      last_reported = {};
      let_go();
      process.store(own);
    } else {
      wait_a_moment();
    }
  }
}

// It comes when the handler is done, where the process lives on.
void let_put_off_come(pid_t thread) {
  if (put_off.si_signo == 0) {
    return;
  }
  siginfo_t info = put_off;
  put_off = {};
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, info.si_signo);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, nullptr, kKernelMask);
  syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, info.si_signo, &info);
}

// Another handler takes over, which may need the other threads, or nobody cares.
void let_go_on(pid_t thread) {
  // Where another crash ends the process they have to stay.
  if (first.load() == 0) {
    let_go();
  }
  let_put_off_come(thread);
}

bool is_ignored(const struct sigaction& action, const siginfo_t& info) {
  return !is_function(action) && action.sa_handler == SIG_IGN && was_sent(info.si_code);
}

void take_course(const Crash& crash, siginfo_t* info, void* context) {
  const struct sigaction action = wanted_action(crash.signal);
  if (is_function(action)) {
    let_go_on(crash.thread);
    if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
      const struct sigaction usual {};
      change_action(crash.signal, &usual, nullptr);
    }
    call(action, crash.signal, info, context);
    return;
  }
  if (is_ignored(action, crash.info)) {
    let_go_on(crash.thread);
    return;
  }
  pid_t nobody = 0;
  if (!first.compare_exchange_strong(nobody, crash.thread) && nobody != crash.thread) {
    // The core is of the first one's signal; this thread is in it as it is.
    for (int i = 0; may_wait(i); ++i) {
      wait_a_moment();
    }
  }
  wait_for_others();
  let_it_come_again(crash);
}

// False where it does not come: somebody's report hangs.
bool take_turn(pid_t thread) {
  waiting.fetch_add(1);
  pid_t nobody = 0;
  for (int i = 0; may_wait(i) && !owner.compare_exchange_strong(nobody, thread); ++i) {
    nobody = 0;
    wait_a_moment();
  }
  waiting.fetch_sub(1);
  return owner.load() == thread;
}

// A question gives way to a crash, which may hold its thread meanwhile and does not wait for it.
bool take_turn_for_question(pid_t thread) {
  pid_t nobody = 0;
  for (int i = 0; i < kLongWait && first.load() == 0 && waiting.load() == 0; ++i) {
    if (owner.compare_exchange_strong(nobody, thread)) {
      return true;
    }
    nobody = 0;
    wait_a_moment();
  }
  return false;
}

void report_with_room(const Crash& crash) {
  const WritersSignals signals;
  const std::size_t room = room_of_handler();
  if (room >= kReportRoom) {
    reporter().report(crash);
  } else if (room >= kLineRoom) {
    reporter().report_small_stack(crash, kReportRoom - room);
  }
}

// In the handler that a crash has brought.
void report(const Crash& crash) {
  const Point point = point_of(*crash.context);
  const Place place{.thread = crash.thread, .pc = point.pc, .sp = point.sp};
  if (place == last_reported && first_of_all && is_function(wanted_action(crash.signal))) {
    return;
  }
  last_reported = place;
  report_with_room(crash);
}

// False where somebody else's report hangs.
bool report_in_turn(const Crash& crash, void (*report)(const Crash&)) {
  // Writing is where a thread may be cancelled.
  int cancellation = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
  begin_in(crash.process);
  const bool has_turn =
      crash.is_question ? take_turn_for_question(crash.thread) : take_turn(crash.thread);
  if (has_turn) {
    const ReportersMask mask;
    report(crash);
    owner.store(0);
  }
  pthread_setcancelstate(cancellation, nullptr);
  return has_turn;
}

// The program's own handler has it, and what is told of it is the kernel's. It may not return.
void hand_over(const struct sigaction& action, const Crash& crash, siginfo_t* info, void* context) {
  if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    const struct sigaction usual {};
    change_action(crash.signal, &usual, nullptr);
  }
  const std::size_t note = note_handling(crash);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(crash.signal, info, context);
  } else {
    action.sa_handler(crash.signal);
  }
  end_of_handling(note, crash);
  take_back(crash.signal);
}

void handle(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  if (owner.load() == thread) {
    // What somebody sends to a process while it reports ends neither the report nor a part of it.
    if (!was_sent(info->si_code)) {
      reporter().give_up_stage(signal, info->si_addr);
      restore_default(signal);  // it comes again, and ends the process
      return;
    }
    put_off = *info;
    errno = kept;
    return;
  }
  const Crash crash{.signal = signal,
                    .info = *info,
                    .context = static_cast<const ucontext_t*>(context),
                    .process = getpid(),
                    .thread = thread};
  const struct sigaction action = wanted_action(signal);
  if (is_function(action) && !first_of_all) {
    errno = kept;
    hand_over(action, crash, info, context);
    return;
  }
  if (!is_ignored(action, *info)) {
    report_in_turn(crash, report);
  }
  take_course(crash, info, context);
  errno = kept;
}

// A process that is not known is the child of a fork, or one of a vfork, whose parent may be at a
// report in the same memory.
bool may_be_a_parents_report() {
  const pid_t known = process.load();
  return known != 0 && known != getpid() && (owner.load() != 0 || is_holding());
}

// Others may ask as soon as the turn is over: whom they hold is none of this one's.
void report_and_go_on(const Crash& crash) {
  report_with_room(crash);
  let_go_on(crash.thread);
}

// Where the process stands, and it goes on.
void tell_where_it_stands(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  const Crash question{.signal = signal,
                       .info = *info,
                       .context = static_cast<const ucontext_t*>(context),
                       .process = getpid(),
                       .thread = static_cast<pid_t>(syscall(SYS_gettid)),
                       .is_question = true};
  if (!may_be_a_parents_report()) {
    report_in_turn(question, report_and_go_on);
  }
  errno = kept;
}

}  // namespace

int install_handlers(const whocall_crash_options& options) {
  if (!has_reporter) {
    new (room_for_reporter) Reporter;
    has_reporter = true;
  }
  if (reporter().output().set(options) != 0 || reporter().receiver().set(options.receiver) != 0) {
    return -1;
  }
  if (options.all_threads != 0 && listen_for_questions() != 0) {
    return -1;
  }
  if (answer_questions_by(options.question_signal, tell_where_it_stands) != 0) {
    return -1;
  }
  first_of_all = options.before_handlers != 0;
  return take_signals(handle, first_of_all);
}

void report_handled() {
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  if (owner.load() == thread || !may_be_handling(thread)) {
    return;
  }
  const Crash unknown{.process = getpid(), .thread = thread};
  report_in_turn(unknown, report_and_go_on);
}

}  // namespace whocall::runtime
