#include "runtime/crash/questions_by_signal.h"

#include <cerrno>

#include "runtime/crash/signals.h"
#include "runtime/signal_setting.h"

namespace whocall::runtime {
namespace {

int asked_by = 0;

bool is_answered_by(int signal, OurHandler answer) {
  struct sigaction there {};
  return sigaction(signal, nullptr, &there) == 0 && (there.sa_flags & SA_SIGINFO) != 0 &&
         there.sa_sigaction == answer;
}

}  // namespace

int answer_questions_by(int signal, OurHandler answer) {
  if (asked_by != 0 && asked_by != signal && is_answered_by(asked_by, answer)) {
    const struct sigaction usual {};
    sigaction(asked_by, &usual, nullptr);
  }
  asked_by = 0;
  if (signal == 0) {
    return 0;
  }
  if (!is_answered_by(signal, answer) && whocall_signal_refused(signal) != nullptr) {
    struct sigaction there {};
    const bool is_had = signal > 0 && sigaction(signal, nullptr, &there) == 0 &&
                        (is_function(there) || there.sa_handler == SIG_IGN);
    errno = is_had ? EBUSY : EINVAL;
    return -1;
  }
  struct sigaction action {};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESTART);
  // While it waits for its turn its thread may crash, or be asked for its stack.
  sigfillset(&action.sa_mask);
  for (const int each : kCrashSignals) {
    sigdelset(&action.sa_mask, each);
  }
  sigdelset(&action.sa_mask, whocall_signal_to_threads());
  if (sigaction(signal, &action, nullptr) != 0) {
    return -1;
  }
  asked_by = signal;
  return 0;
}

}  // namespace whocall::runtime
