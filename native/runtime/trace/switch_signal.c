/* A signal that switches events on and off while the program runs: from outside, and by nobody's
 * code in it. */
#define _GNU_SOURCE /* NOLINT: the C library's name */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "runtime/signal_setting.h"
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

static WCT_PLAIN bool install(int number) {
  struct sigaction action = {0};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(number, &action, NULL) == 0;
}

WCT_PLAIN void wct_handle_signal(void) {
  const char* const signal_name = whocall_setting("WHOCALL_TRACE_SIGNAL");
  if (signal_name == NULL) {
    return;
  }
  first = whocall_trace_switch(WHOCALL_TRACE_EVENTS);
  whocall_trace_switch(first);
  second = first == WHOCALL_TRACE_EVENTS ? WHOCALL_TRACE_STACKS : WHOCALL_TRACE_EVENTS;
  const int number = whocall_signal_named(signal_name);
  const char* refused = whocall_signal_refused(number);
  if (refused == NULL && !install(number)) {
    refused = "cannot be handled";
  }
  if (refused != NULL) {
    fprintf(stderr, "libwhocall-trace: WHOCALL_TRACE_SIGNAL=%s %s\n", signal_name, refused);
  }
}
