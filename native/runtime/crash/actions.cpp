#include "runtime/crash/actions.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "runtime/crash/signals.h"

namespace whocall::runtime {
namespace {

constexpr std::size_t kActionMask = _NSIG / 8;  // bytes, of the kernel's masks of signals
constexpr int kLooks = 10'000;                  // looks at what another thread is about to change

// An odd version is one that is being changed.
struct Wanted {
  std::atomic<unsigned> version{0};
  struct sigaction action {};
};

Wanted wanted[kCrashSignals.size()];
std::atomic<int> changing{0};
std::atomic<SetAction> real_sigaction{nullptr};
std::atomic<OurHandler> ours{nullptr};
std::atomic<pid_t> table_owner{0};  // that the table is of
bool ours_first = false;

Wanted* wanted_of(int signal) {
  for (std::size_t i = 0; i < kCrashSignals.size(); ++i) {
    if (kCrashSignals.data()[i] == signal) {
      return &wanted[i];
    }
  }
  return nullptr;
}

int set_in_kernel(int signal, const struct sigaction* action, struct sigaction* before) {
  const SetAction function = real_sigaction.load();
  return function == nullptr ? sigaction(signal, action, before) : function(signal, action, before);
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == ours.load();
}

// Folklore. Situation: the program's handler of a crash blocks all other signals and calls abort(),
// which since glibc 2.41 ends a program that blocks SIGABRT without asking a handler. Example:
// Java's, on Debian 13: no report. Remedy: that signal is not blocked, as abort() itself saw to
// before.
struct sigaction our_action(const struct sigaction& program) {
  struct sigaction action {};
  if (is_function(program) && !ours_first) {
    action.sa_mask = program.sa_mask;
    sigdelset(&action.sa_mask, SIGABRT);
    action.sa_flags = program.sa_flags & ~static_cast<int>(SA_RESETHAND);
  } else {
    action.sa_flags = SA_NODEFER;
    sigfillset(&action.sa_mask);
    for (const int each : kCrashSignals) {
      sigdelset(&action.sa_mask, each);
    }
  }
  action.sa_sigaction = ours.load();
  action.sa_flags |= SA_SIGINFO | SA_ONSTACK;
  return action;
}

// Who changes the table is not interrupted by who reads it. A child may have been forked while
// another thread changed it: nobody waits for ever.
class Changing {
 public:
  Changing() {
    sigset_t all;
    sigfillset(&all);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, kActionMask);
    int nobody = 0;
    for (int i = 0; i < kLooks && !changing.compare_exchange_weak(nobody, 1); ++i) {
      nobody = 0;
      sched_yield();
    }
  }
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;
  ~Changing() {
    changing.store(0);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, kActionMask);
  }

 private:
  sigset_t before_{};
};

void put(Wanted& place, const struct sigaction& action) {
  place.version.fetch_or(1U);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  place.action = action;
  place.version.fetch_add(1);
}

}  // namespace

void set_real_sigaction(SetAction function) { real_sigaction.store(function); }

// Whatever the flags say: Go's runtime sets the default with SA_SIGINFO.
bool is_function(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

int take_signals(OurHandler handler, bool first) {
  const Changing changes;
  ours.store(handler);
  ours_first = first;
  belongs_to_this_process();
  for (const int signal : kCrashSignals) {
    struct sigaction before {};
    if (set_in_kernel(signal, nullptr, &before) != 0) {
      return -1;
    }
    Wanted& place = *wanted_of(signal);
    if (!is_ours(before)) {
      put(place, before);
    }
    const struct sigaction action = our_action(place.action);
    if (set_in_kernel(signal, &action, nullptr) != 0) {
      return -1;
    }
  }
  return 0;
}

struct sigaction wanted_action(int signal) {
  const Wanted* const place = wanted_of(signal);
  struct sigaction action {};
  for (int i = 0; place != nullptr && i < kLooks; ++i) {
    const unsigned version = place->version.load();
    action = place->action;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (version % 2 == 0 && version == place->version.load()) {
      break;
    }
    sched_yield();
  }
  return action;
}

int change_action(int signal, const struct sigaction* wanted, struct sigaction* before) {
  const Changing changes;
  Wanted& place = *wanted_of(signal);
  const struct sigaction was = place.action;
  if (wanted != nullptr) {
    const struct sigaction action = our_action(*wanted);
    if (set_in_kernel(signal, &action, nullptr) != 0) {
      return -1;
    }
    put(place, *wanted);
  }
  if (before != nullptr) {
    *before = was;
  }
  return 0;
}

void belongs_to_this_process() { table_owner.store(getpid()); }

bool is_taken(int signal) {
  return ours.load() != nullptr && wanted_of(signal) != nullptr && table_owner.load() == getpid();
}

void hide_ours(int signal, struct sigaction& told) {
  if (ours.load() != nullptr && wanted_of(signal) != nullptr && is_ours(told)) {
    told = wanted_action(signal);
  }
}

void take_back(int signal) {
  const int kept = errno;
  struct sigaction now {};
  if (set_in_kernel(signal, nullptr, &now) == 0 && !is_ours(now) && !is_function(now)) {
    static_cast<void>(change_action(signal, &now, nullptr));
  }
  errno = kept;
}

void restore_default(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  set_in_kernel(signal, &action, nullptr);
}

}  // namespace whocall::runtime
