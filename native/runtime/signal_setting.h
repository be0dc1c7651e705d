/* The signal that a variable of the environment names. */
#ifndef WHOCALL_RUNTIME_SIGNAL_SETTING_H
#define WHOCALL_RUNTIME_SIGNAL_SETTING_H

/* NOLINTBEGIN: a header of C and of C++ */
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/privilege.h"

/* "USR1", "SIGUSR1" or "10"; 0: neither. */
WHOCALL_INLINE int whocall_signal_named(const char* text) {
  static const struct {
    const char* name;
    int number;
  } kNames[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2},   {"ALRM", SIGALRM}, {"HUP", SIGHUP},
                {"QUIT", SIGQUIT}, {"WINCH", SIGWINCH}, {"URG", SIGURG},   {"IO", SIGIO}};
  const char* const name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
  for (size_t at = 0; at < sizeof kNames / sizeof *kNames; ++at) {
    if (strcmp(name, kNames[at].name) == 0) {
      return kNames[at].number;
    }
  }
  char* end = NULL;
  const long number = strtol(text, &end, 10);
  return *text != 0 && *end == 0 && number > 0 && number <= SIGRTMAX ? (int)number : 0;
}

/* By it libwhocall asks the program's threads for their stacks: real-time signals near the end of
 * their range are rarely anyone's. */
WHOCALL_INLINE int whocall_signal_to_threads(void) { return SIGRTMAX - 3; }

/* Why it cannot be used; NULL: it can. A program that has a handler, or ignores the signal, keeps
 * it so. After one of a crash the same instruction would come again, for ever. */
WHOCALL_INLINE const char* whocall_signal_refused(int number) {
  static const int kCrashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
  struct sigaction there;
  for (size_t at = 0; at < sizeof kCrashes / sizeof *kCrashes; ++at) {
    if (number == kCrashes[at]) {
      return "is a signal of crashes: write USR2 or another number";
    }
  }
  if (number == whocall_signal_to_threads()) {
    return "is libwhocall's own: write USR2 or another number";
  }
  if (number == 0) {
    return "is no signal: write USR2 or a number";
  }
  if (number == SIGKILL || number == SIGSTOP || sigaction(number, NULL, &there) != 0) {
    return "cannot be handled";
  }
  return (there.sa_flags & SA_SIGINFO) == 0 && there.sa_handler == SIG_DFL
             ? NULL
             : "is handled or ignored already";
}
/* NOLINTEND */

#endif
