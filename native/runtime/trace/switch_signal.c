/* A signal that switches events on and off while the program runs: from outside, and by nobody's
 * code in it. */
#define _GNU_SOURCE /* NOLINT: the C library's name */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/privilege.h"
#include "runtime/trace/region.h"
#include "runtime/trace/whocall_trace.h"

static whocall_trace_mode first;  /* what the environment asked for */
static whocall_trace_mode second; /* what the signal switches to, and back from */

static WCT_PLAIN void on_signal(int number) {
  (void)number;
  const int kept = errno;
  const whocall_trace_mode now = whocall_trace_switch(first);
  if (now == first) {
    whocall_trace_switch(second);
  }
  errno = kept;
}

/* "USR1", "SIGUSR1" or "10"; 0: neither. */
static WCT_PLAIN int number_of(const char* text) {
  static const struct {
    const char* name;
    int number;
  } kNames[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP}, {"WINCH", SIGWINCH},
                {"URG", SIGURG},   {"IO", SIGIO},     {"PWR", SIGPWR}};
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

/* A program that has a handler, or ignores the signal, keeps it so. */
static WCT_PLAIN const char* install(int number) {
  struct sigaction action = {0};
  if (number == 0) {
    return "is no signal: write USR2 or a number";
  }
  if (sigaction(number, NULL, &action) != 0) {
    return "cannot be handled";
  }
  if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) {
    return "is handled or ignored already";
  }
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(number, &action, NULL) == 0 ? NULL : "cannot be handled";
}

WCT_PLAIN void wct_handle_signal(void) {
  const char* const signal_name = whocall_setting("WHOCALL_TRACE_SIGNAL");
  if (signal_name == NULL) {
    return;
  }
  first = whocall_trace_switch(WHOCALL_TRACE_EVENTS);
  whocall_trace_switch(first);
  second = first == WHOCALL_TRACE_EVENTS ? WHOCALL_TRACE_STACKS : WHOCALL_TRACE_EVENTS;
  const char* const refused = install(number_of(signal_name));
  if (refused != NULL) {
    fprintf(stderr, "libwhocall-trace: WHOCALL_TRACE_SIGNAL=%s %s\n", signal_name, refused);
  }
}
