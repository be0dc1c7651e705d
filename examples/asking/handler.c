/* A signal handler: what was interrupted, from the context that the kernel gave, and then the
 * crash handler's own report.
 * Build: gcc -O2 handler.c
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <whocall.h>

static volatile int *volatile nowhere = (int *)16;

static void handler(int number, siginfo_t *info, void *context) {
  whocall_frame frames[16];
  const size_t count = whocall_backtrace_context(context, frames, 16);
  static const char text[] = "interrupted:\n";
  (void)number;
  (void)info;
  if (write(1, text, strlen(text)) > 0) whocall_print(1, frames, count);
}

static __attribute__((noinline)) void interrupted(void) {
  raise(SIGUSR1);
  __asm__ volatile("");
}

static __attribute__((noinline)) void crashes(void) {
  *nowhere = 1;
  __asm__ volatile("");
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, NULL);
  interrupted();
  whocall_crash_options options = WHOCALL_CRASH_OPTIONS;
  options.text_fd = 1;
  whocall_install(&options);
  crashes();
  return 0;
}
