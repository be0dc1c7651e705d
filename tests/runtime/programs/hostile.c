/* Programs as they are, in the way that the first word says: none of it may keep a report from being
 * made, nor the program from going on, or from ending, as it would without one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "whocall.h"

#define KEPT __attribute__((noinline))
#define STAY() __asm__ volatile("" ::: "memory")

static volatile int* volatile nowhere = (int*)16;

KEPT static void boom(void) {
  *nowhere = 1;
  STAY();
}

/* The child of a vfork has its parent's memory, the handler's state in it. */
KEPT static void after_vfork(void) {
  if (vfork() == 0) {
    boom();
    _exit(0);
  }
  int status = 0;
  wait(&status);
  boom();
  STAY();
}

KEPT static int overflow(int depth) {
  volatile char room[200];
  room[depth % 200] = 1;
  const int sum = overflow(depth + 1) + room[depth % 7];
  STAY();
  return sum;
}

static int in_c11_thread(void* unused) {
  (void)unused;
  return overflow(0);
}

/* The stack for handlers is taken away, twice, and one of the program's own put there between. */
static void* without_stack(void* unused) {
  static char own[65536];
  stack_t none = {.ss_flags = SS_DISABLE};
  stack_t mine = {.ss_sp = own, .ss_size = sizeof own};
  stack_t now;
  sigaltstack(&none, NULL);
  sigaltstack(&mine, NULL);
  sigaltstack(NULL, &now);
  if (now.ss_sp != own) _exit(9);
  sigaltstack(&none, NULL);
  overflow(0);
  return unused;
}

static void stack_taken_away(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, without_stack, NULL);
  pthread_join(thread, NULL);
}

static void c11_thread(void) {
  thrd_t thread;
  thrd_create(&thread, in_c11_thread, NULL);
  thrd_join(thread, NULL);
}

static pthread_barrier_t begun;

static void* blocks_all(void* unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  pthread_barrier_wait(&begun);
  for (;;)
    pause();
  return unused;
}

/* All threads but the first block all signals, as programs do whose first thread takes them. */
static void forty_threads(void) {
  pthread_barrier_init(&begun, NULL, 41);
  for (int i = 0; i < 40; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, blocks_all, NULL);
  }
  pthread_barrier_wait(&begun);
  boom();
}

/* Before the program's own handler is called. */
static void install_first(void) {
  whocall_crash_options options = WHOCALL_CRASH_OPTIONS;
  options.before_handlers = 1;
  whocall_install(&options);
}

static void ends_well(int signal) {
  (void)signal;
  _exit(7);
}

/* The program has a handler, which a signal of the report's own writing must not forestall. */
static void handled(void) {
  signal(SIGSEGV, ends_well);
  install_first();
  boom();
}

static void limited(void) {
  const struct rlimit limit = {100, 100};
  setrlimit(RLIMIT_FSIZE, &limit);
  handled();
}

static sigjmp_buf place;

static void recovers(int signal) {
  (void)signal;
  siglongjmp(place, 1);
}

KEPT static void tries(volatile char* room) {
  if (sigsetjmp(place, 1) == 0)
    boom();
  room[0] = 1;
}

/* The same instruction crashes in two calls, and a handler recovers from both. */
static void twice(void) {
  char first[16], second[4096];
  signal(SIGSEGV, recovers);
  install_first();
  tries(first);
  char* volatile more = __builtin_alloca(1000);
  tries(more);
  STAY();
  (void)second;
}

static struct {
  unsigned char before[65536];
  unsigned char stack[8192];
} room;

static void looks_below(int signal) {
  size_t changed = 0;
  (void)signal;
  for (size_t i = 0; i < sizeof room.before; ++i)
    changed += room.before[i] != 0x5a;
  _exit(changed == 0 ? 7 : 8);
}

/* The program gives the thread a smaller stack for handlers, later; what is below is its own. */
static void small_stack(void) {
  const stack_t small = {.ss_sp = room.stack, .ss_size = 6144};
  memset(room.before, 0x5a, sizeof room.before);
  signal(SIGSEGV, looks_below);
  install_first();
  sigaltstack(&small, NULL);
  boom();
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    void (*function)(void);
  } kCases[] = {
      {"after_vfork", after_vfork}, {"c11_thread", c11_thread}, {"stack_taken_away", stack_taken_away}, {"forty_threads", forty_threads},
      {"handled", handled},         {"limited", limited},       {"twice", twice},
      {"small_stack", small_stack}, {"boom", boom},
  };
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) {
    if (count > 1 && strcmp(words[1], kCases[i].name) == 0)
      kCases[i].function();
  }
  return 0;
}
