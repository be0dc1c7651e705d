/* Is asked where it stands, goes on, and ends as it is told. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef INSTALLS
#include <whocall.h>
#endif

static volatile int turns;
static int pipe_of[2];

static void __attribute__((noinline)) busy(const char* how) {
  if (strcmp(how, "watchdog") == 0) {
    alarm(1);
    for (int i = 0; i < 1200; ++i) usleep(1000);
  } else {
    raise(SIGUSR1);
    raise(SIGUSR1);
  }
  ++turns;
}

static void* worker(void* nothing) {
  char letter;
  while (read(pipe_of[0], &letter, 1) < 0 && errno == EINTR) {
  }
  return nothing;
}

int main(int argc, char** argv) {
  pthread_t thread;
#ifdef INSTALLS
  whocall_crash_options options = WHOCALL_CRASH_OPTIONS;
  options.question_signal = SIGSEGV;
  if (whocall_install(&options) == 0 || errno != EINVAL) return 3;
  signal(SIGUSR2, SIG_IGN);
  options.question_signal = SIGUSR2;
  if (whocall_install(&options) == 0 || errno != EBUSY) return 4;
  options.question_signal = SIGUSR1;
  if (whocall_install(&options) != 0 || whocall_install(&options) != 0) return 5;
#endif
  if (pipe(pipe_of) != 0 || pthread_create(&thread, NULL, worker, NULL) != 0) return 2;
  usleep(50000);
  busy(argv[1]);
  if (write(pipe_of[1], "x", 1) != 1) return 2;
  pthread_join(thread, NULL);
  printf("went on after %d\n", turns);
  fflush(stdout);
#ifdef INSTALLS
  options.question_signal = 0;
  if (whocall_install(&options) != 0) return 6;
  raise(SIGUSR1); /* is what it was: the end */
#endif
  if (argc > 2) *(volatile int*)16 = 1;
  return 0;
}
