// sigaction() and its like, in front of the C library's: what the program sets for the signals of a
// crash is what is called when they come, and our handler stays before it. Programs that set theirs
// later, as runtimes of languages do, would else take its place without knowing.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>

#include <cerrno>

#include "runtime/crash/actions.h"
#include "runtime/crash/handler.h"
#include "runtime/crash/handler_stack.h"
#include "runtime/preload/signals.h"
#include "runtime/whocall.h"

#ifdef __THROW
#define WHOCALL_AS_DECLARED __THROW
#else
#define WHOCALL_AS_DECLARED
#endif

namespace runtime = whocall::runtime;

namespace {

bool stands = false;

// Whether the program's wish for the signal is kept by us.
bool is_kept(int signal) { return stands && runtime::is_taken(signal); }

using SetHandler = void (*(*)(int, void (*)(int)))(int);

template <typename Function>
Function behind_us(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  static const auto kReal = behind_us<runtime::SetAction>("sigaction");
  return kReal(signal, action, before);
}

// SIG_HOLD, which not every C library has.
void (*const kHold)(int) = reinterpret_cast<void (*)(int)>(2);

// As signal() and its like do with one of the signals that were taken.
void (*set_handler(int signal, void (*handler)(int), int flags, bool deferred))(int) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  if (deferred) {
    sigaddset(&action.sa_mask, signal);
  }
  return runtime::change_action(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

// What signal() does, by any of its names.
void (*signal_as_in_bsd(SetHandler real, int signal, void (*handler)(int)))(int) {
  return is_kept(signal) ? set_handler(signal, handler, SA_RESTART, true) : real(signal, handler);
}

}  // namespace

// NOLINTBEGIN: what is called as in the C library is so for a reason
extern "C" {

WHOCALL_API int sigaction(int signal, const struct sigaction* action,
                          struct sigaction* before) WHOCALL_AS_DECLARED {
  if (is_kept(signal)) {
    return runtime::change_action(signal, action, before);
  }
  const int result = real_sigaction(signal, action, before);
  if (result == 0 && stands && before != nullptr) {
    runtime::hide_ours(signal, *before);
  }
  return result;
}

WHOCALL_API void (*signal(int signal, void (*handler)(int)) WHOCALL_AS_DECLARED)(int) {
  static const auto kReal = behind_us<SetHandler>("signal");
  return signal_as_in_bsd(kReal, signal, handler);
}

// What signal() is for programs that ask for System V's, or for the standard alone.
WHOCALL_API void (*__sysv_signal(int signal, void (*handler)(int)) WHOCALL_AS_DECLARED)(int) {
  static const auto kReal = behind_us<SetHandler>("__sysv_signal");
  constexpr auto kFlags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  return is_kept(signal) ? set_handler(signal, handler, kFlags, false) : kReal(signal, handler);
}

// Who takes the stack for handlers away, as runtimes do at the end of a thread, has no other one:
// ours comes back. One that the program brings itself stays.
WHOCALL_API int sigaltstack(const stack_t* wanted, stack_t* before) WHOCALL_AS_DECLARED {
  static const auto kReal = behind_us<int (*)(const stack_t*, stack_t*)>("sigaltstack");
  const int result = kReal(wanted, before);
  if (result == 0 && stands && wanted != nullptr && (wanted->ss_flags & SS_DISABLE) != 0) {
    runtime::give_handler_stack();
  }
  return result;
}

// Two more names of signal().
WHOCALL_API void (*bsd_signal(int signal, void (*handler)(int)) WHOCALL_AS_DECLARED)(int) {
  static const auto kReal = behind_us<SetHandler>("bsd_signal");
  return signal_as_in_bsd(kReal, signal, handler);
}

WHOCALL_API void (*ssignal(int signal, void (*handler)(int)) WHOCALL_AS_DECLARED)(int) {
  static const auto kReal = behind_us<SetHandler>("ssignal");
  return signal_as_in_bsd(kReal, signal, handler);
}

// System V's, which old programs end themselves by: sigset(signal, SIG_DFL) in the handler, then
// kill(). It unblocks the signal, or with SIG_HOLD blocks it, and tells whether it was blocked.
WHOCALL_API void (*sigset(int signal, void (*handler)(int)) WHOCALL_AS_DECLARED)(int) {
  static const auto kReal = behind_us<SetHandler>("sigset");
  if (!is_kept(signal)) {
    return kReal(signal, handler);
  }
  const bool holds = handler == kHold;
  sigset_t own;
  sigset_t blocked;
  sigemptyset(&own);
  sigaddset(&own, signal);
  struct sigaction before {};
  runtime::change_action(signal, nullptr, &before);
  if (!holds && set_handler(signal, handler, 0, false) == SIG_ERR) {
    return SIG_ERR;
  }
  pthread_sigmask(holds ? SIG_BLOCK : SIG_UNBLOCK, &own, &blocked);
  return sigismember(&blocked, signal) == 1 ? kHold : before.sa_handler;
}

WHOCALL_API int sigignore(int signal) WHOCALL_AS_DECLARED {
  static const auto kReal = behind_us<int (*)(int)>("sigignore");
  if (!is_kept(signal)) {
    return kReal(signal);
  }
  return set_handler(signal, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

WHOCALL_API __attribute__((noreturn)) void _exit(int status) {
  runtime::report_handled();
  for (;;) {
    syscall(SYS_exit_group, status);
  }
}

WHOCALL_API __attribute__((noreturn)) void _Exit(int status) WHOCALL_AS_DECLARED { _exit(status); }

}  // extern "C"
// NOLINTEND

void use_real_sigaction() { runtime::set_real_sigaction(real_sigaction); }

void stand_before_sigaction() {
  stands = true;
  pthread_atfork(nullptr, nullptr, runtime::belongs_to_this_process);
}
