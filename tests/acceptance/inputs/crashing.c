// Crashes below a callback of the C library, beside a thread that waits. Where $HANDLER names a
// program, its signal handler has that dump the process first, as clients of Crashpad do.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUT_OF_LINE __attribute__((noinline, noclone))

struct __attribute__((packed)) exception_information {
  uint64_t siginfo, context;
  int32_t thread;
};
static struct exception_information told;

static void dump(int signal_number, siginfo_t *info, void *context) {
  static char place[64], database[512];
  const char *handler = getenv("HANDLER");
  told.siginfo = (uintptr_t)info;
  told.context = (uintptr_t)context;
  told.thread = (int32_t)syscall(SYS_gettid);
  snprintf(place, sizeof place, "--trace-parent-with-exception=%lu",
           (unsigned long)(uintptr_t)&told);
  snprintf(database, sizeof database, "--database=%s", getenv("DATABASE"));
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  pid_t child = fork();
  if (child == 0) {
    execl(handler, handler, place, database, (char *)0);
    _exit(127);
  }
  int status;
  waitpid(child, &status, 0);
  signal(signal_number, SIG_DFL);
}

static pthread_barrier_t started;
// On i386 syscall() goes through the vDSO in every release; pause() goes around it since glibc 2.41.
OUT_OF_LINE void idle(void) { for (;;) syscall(SYS_pause); }
static void *waiting(void *unused) {
  (void)unused;
  pthread_barrier_wait(&started);
  idle();
  return 0;
}

static OUT_OF_LINE int innermost(int *p) { return 1 + *(volatile int *)p; }
static OUT_OF_LINE int comparing(const void *a, const void *b) {
  (void)a;
  (void)b;
  return innermost(0) + 1;
}
OUT_OF_LINE int sorting(int *values) {
  qsort(values, 4, sizeof *values, comparing);
  return values[0];
}

int main(void) {
  pthread_t thread;
  int values[4] = {4, 3, 2, 1};
  struct sigaction action = {.sa_sigaction = dump, .sa_flags = SA_SIGINFO};
  pthread_barrier_init(&started, 0, 2);
  pthread_create(&thread, 0, waiting, 0);
  pthread_setname_np(thread, "waiter");
  pthread_barrier_wait(&started);
  usleep(100000);
  if (getenv("HANDLER")) sigaction(SIGSEGV, &action, 0);
  return sorting(values) + 1;
}
