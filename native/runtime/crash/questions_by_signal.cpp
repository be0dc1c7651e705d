#include "runtime/crash/questions_by_signal.h"

#include <cerrno>

#include "runtime/crash/signals.h"
#include "runtime/signal_setting.h"

namespace whocall::runtime {
namespace {

int asked_by = 0;

bool is_ours(int signal, OurHandler answer) {
  struct sigaction there {};
  return sigaction(signal, nullptr, &there) == 0 && (there.sa_flags & SA_SIGINFO) != 0 &&
         there.sa_sigaction == answer;
}

bool is_of_a_crash(int signal) {
  for (const int each : kCrashSignals) {
    if (signal == each) {
      return true;
    }
  }
  return false;
}

}  // namespace

int answer_questions_by(int signal, OurHandler answer) {
  if (asked_by != 0 && asked_by != signal && is_ours(asked_by, answer)) {
    const struct sigaction usual {};
    sigaction(asked_by, &usual, nullptr);
  }
  asked_by = 0;
  if (signal == 0) {
    return 0;
  }
  if (signal < 0 || signal > SIGRTMAX || is_of_a_crash(signal)) {
    errno = EINVAL;
    return -1;
  }
  if (!is_ours(signal, answer) && whocall_signal_refused(signal) != nullptr) {
    errno = EBUSY;
    return -1;
  }
  struct sigaction action {};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESTART);
  sigemptyset(&action.sa_mask);
  if (sigaction(signal, &action, nullptr) != 0) {
    return -1;
  }
  asked_by = signal;
  return 0;
}

}  // namespace whocall::runtime
