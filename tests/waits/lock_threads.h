// What the threads of locks.c do: each waits for one thing in one way, and says so.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "settle.h"

#define MOST 8
static const char *const names[MOST] = {"a", "b", "c", "d", "e", "f", "g", "h"};
static pthread_mutex_t mutex[MOST];
static pthread_t thread[MOST];
static pthread_rwlock_t rwlock[2];
static pthread_cond_t condition;
static pthread_barrier_t barrier, never;
static sem_t semaphore;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int count = 2;
static volatile int goes_on, ready;

static int own_id(void) { return (int)syscall(SYS_gettid); }

static void begin(int i) {
  fprintf(stderr, "thread %s %d\n", names[i], own_id());
}

static void waits(int i, const char *kind, const void *object, const char *who) {
  fprintf(stderr, "wait %s %s %#lx %s\n", names[i], kind, (unsigned long)(uintptr_t)object, who);
}

static void init(pthread_mutex_t *made, int type, int robust, int protocol, int shared) {
  pthread_mutexattr_t wanted;
  pthread_mutexattr_init(&wanted);
  pthread_mutexattr_settype(&wanted, type);
  if (robust) pthread_mutexattr_setrobust(&wanted, PTHREAD_MUTEX_ROBUST);
  if (protocol) pthread_mutexattr_setprotocol(&wanted, protocol);
  if (shared) pthread_mutexattr_setpshared(&wanted, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(made, &wanted);
}

static void init_all(int type, int robust, int protocol) {
  for (int i = 0; i < MOST; ++i) init(&mutex[i], type, robust, protocol, 0);
}

typedef void *(*body)(void *);
static void start(int i, body run) {
  pthread_create(&thread[i], NULL, run, (void *)(intptr_t)i);
}

// Each holds its own and wants the next one's.
static void *in_ring(void *argument) {
  int i = (int)(intptr_t)argument, next = (i + 1) % count;
  begin(i);
  pthread_mutex_lock(&mutex[i]);
  pthread_barrier_wait(&barrier);
  waits(i, "mutex", &mutex[next], names[next]);
  pthread_mutex_lock(&mutex[next]);
  return NULL;
}

static void ring(int threads) {
  count = threads;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) start(i, in_ring);
  settle(threads);
  fprintf(stderr, "deadlock");
  for (int i = 0; i < threads; ++i) fprintf(stderr, " %s", names[i]);
  fprintf(stderr, "\n");
}

static void *itself(void *argument) {
  begin(0);
  pthread_mutex_lock(&mutex[0]);
  waits(0, "mutex", &mutex[0], "a");
  pthread_mutex_lock(&mutex[0]);
  return argument;
}

// "a" holds what it is given and does as it is told; "b" wants it.
static void *holder(void *run) {
  begin(0);
  pthread_mutex_lock(&mutex[0]);
  pthread_rwlock_wrlock(&rwlock[0]);
  ((void (*)(void))run)();
  return NULL;
}
static void hold_while(void (*run)(void)) {
  pthread_create(&thread[0], NULL, holder, (void *)run);
  while (!ready) usleep(1000);
}
static void sleeps(void) {
  waits(0, "sleep", NULL, "-");
  ready = 1;
  for (;;) sleep(1000);
}
static void runs(void) {
  waits(0, "nothing", NULL, "-");
  ready = 1;
  while (!goes_on) {
  }
}
static void *wants(void *argument) {
  int i = (int)(intptr_t)argument;
  begin(i);
  waits(i, "mutex", &mutex[0], "a");
  pthread_mutex_lock(&mutex[0]);
  return NULL;
}
static void *wants_for_a_time(void *argument) {
  int i = (int)(intptr_t)argument;
  struct timespec late;
  clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 1000;
  begin(i);
  waits(i, "mutex", &mutex[0], "a");
  pthread_mutex_timedlock(&mutex[0], &late);
  return NULL;
}
static void *wants_to_read(void *argument) {
  begin(1);
  waits(1, "rwlock", &rwlock[0], "a");
  pthread_rwlock_rdlock(&rwlock[0]);
  return argument;
}
static void *wants_to_write(void *argument) {
  int i = (int)(intptr_t)argument;
  begin(i);
  waits(i, "rwlock", &rwlock[i == 3], i == 3 ? "-" : "a");
  pthread_rwlock_wrlock(&rwlock[i == 3]);
  return NULL;
}
static void *reads(void *argument) {
  pthread_rwlock_rdlock(&rwlock[1]);
  begin(4);
  waits(4, "sleep", NULL, "-");
  ready = 2;
  for (;;) sleep(1000);
  return argument;
}

static void *waits_for_condition(void *argument) {
  int i = (int)(intptr_t)argument;
  begin(i);
  pthread_mutex_lock(&mutex[0]);
  waits(i, "condition", NULL, "-");
  pthread_cond_wait(&condition, &mutex[0]);
  return NULL;
}
static void *waits_for_semaphore(void *argument) {
  begin(0);
  waits(0, "semaphore", &semaphore, "-");
  sem_wait(&semaphore);
  return argument;
}
static void *waits_for_others(void *argument) {
  begin(0);
  waits(0, "barrier", NULL, "-");
  pthread_barrier_wait(&never);
  return argument;
}
static void initializer(void) {
  waits(0, "sleep", NULL, "-");
  for (;;) sleep(1000);
}
static void *initializes(void *argument) {
  int i = (int)(intptr_t)argument;
  begin(i);
  if (i == 1) {
    usleep(100000);
    waits(1, "once", &once, "-");
  }
  pthread_once(&once, initializer);
  return NULL;
}
static void *joins(void *argument) {
  int i = (int)(intptr_t)argument;
  begin(i);
  waits(i, "join", NULL, names[0]);
  pthread_join(thread[0], NULL);
  return NULL;
}
#ifdef __GLIBC__
static void *joins_for_a_time(void *argument) {
  struct timespec late;
  clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 1000;
  begin(1);
  waits(1, "join", NULL, names[0]);
  pthread_timedjoin_np(thread[0], NULL, &late);
  return argument;
}
#endif
static void *sleeper(void *argument) {
  begin(0);
  sleeps();
  return argument;
}
// "a" holds the mutex and waits for the end of "b", which wants it.
static void *joins_holding(void *argument) {
  begin(0);
  pthread_mutex_lock(&mutex[0]);
  start(1, wants);
  waits(0, "join", NULL, "b");
  pthread_join(thread[1], NULL);
  return argument;
}
#ifdef __GLIBC__
static void *joins_holding_for_a_time(void *argument) {
  struct timespec late;
  clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 1000;
  begin(0);
  pthread_mutex_lock(&mutex[0]);
  start(1, wants);
  waits(0, "join", NULL, "b");
  pthread_timedjoin_np(thread[1], NULL, &late);
  return argument;
}
#endif

// "a" ends with the mutex in its hand.
static void *ends_holding(void *argument) {
  pthread_mutex_lock(&mutex[0]);
  return argument;
}
static void *wants_of_nobody(void *argument) {
  int i = (int)(intptr_t)argument;
  begin(i);
  waits(i, "mutex", &mutex[0], "-");
  pthread_mutex_lock(&mutex[0]);
  return NULL;
}

// Each holds a mutex and waits for a condition that the other one would signal.
static pthread_cond_t conditions[2];
static void *condition_ring(void *argument) {
  int i = (int)(intptr_t)argument;
  begin(i);
  pthread_mutex_lock(&mutex[2 + i]);
  pthread_mutex_lock(&mutex[i]);
  waits(i, "condition", NULL, "-");
  pthread_cond_wait(&conditions[i], &mutex[i]);
  return NULL;
}
static sem_t semaphores[2];
static void *semaphore_ring(void *argument) {
  int i = (int)(intptr_t)argument;
  begin(i);
  pthread_barrier_wait(&barrier);
  waits(i, "semaphore", &semaphores[i], "-");
  sem_wait(&semaphores[i]);
  return NULL;
}
// A ring of mutexes, of which one is taken with a limit in time.
static void *timed_ring(void *argument) {
  int i = (int)(intptr_t)argument, next = 1 - i;
  struct timespec late;
  clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 1000;
  begin(i);
  pthread_mutex_lock(&mutex[i]);
  pthread_barrier_wait(&barrier);
  waits(i, "mutex", &mutex[next], names[next]);
  if (i == 0) {
    pthread_mutex_timedlock(&mutex[next], &late);
  } else {
    pthread_mutex_lock(&mutex[next]);
  }
  return NULL;
}

static void *ends_it(void *argument) {
  settle(1);
  fprintf(stderr, "done\n");
  if (getenv("WHOCALL_CORE") != NULL) abort();
  return argument;
}

// Another process has it; and its ids are no threads of ours.
static void shared_by_processes(void) {
  pthread_mutex_t *shared =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  volatile int *locked = (volatile int *)((char *)shared + 2048);
  init(shared, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 1);
  pid_t self = getpid();
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(0);
    pthread_mutex_lock(shared);
    *locked = 1;
    for (;;) sleep(1000);
  }
  while (!*locked) usleep(1000);
  fprintf(stderr, "thread a %d\n", own_id());
  waits(0, "mutex", shared, "-");
  pthread_create(&thread[1], NULL, ends_it, NULL);
  pthread_mutex_lock(shared);
}

// What a lock says of its owner while nobody waits at it is not believed either.
static void *at_a_word(void *argument) {
  static int words[6] = {2, 0, 0, 1, 0, 0};
  words[2] = own_id();  // as if it were a mutex; but nothing of the C library waits here
  begin(0);
  waits(0, "futex", words, "-");
  syscall(SYS_futex, words, 0x80 /* FUTEX_WAIT_PRIVATE */, 2, NULL, NULL, 0);
  return argument;
}
