// Programs whose threads wait for each other, or only seem to: one a name. What each thread waits
// for the program itself tells on standard error, a line each:
//
//   thread NAME TID             there is one
//   wait NAME KIND ADDRESS WHO  it waits for a thing of that kind; "-": nobody can know
//   deadlock NAME...            these wait for each other for good
#define _GNU_SOURCE
#include "lock_threads.h"

// Each starts the threads of a case, if it has one of that name: then it returns 1.
#define IS(word) (strcmp(name, word) == 0)

static int rings(const char *name) {
  if (IS("two")) return ring(2), 1;
  if (IS("five")) return ring(5), 1;
  if (IS("recursive")) return init_all(PTHREAD_MUTEX_RECURSIVE, 0, 0), ring(3), 1;
  if (IS("error-checking")) return init_all(PTHREAD_MUTEX_ERRORCHECK, 0, 0), ring(2), 1;
  if (IS("robust")) return init_all(PTHREAD_MUTEX_NORMAL, 1, 0), ring(2), 1;
  if (IS("robust recursive")) return init_all(PTHREAD_MUTEX_RECURSIVE, 1, 0), ring(2), 1;
  if (IS("itself")) {
    start(0, itself);
    settle(1);
    fprintf(stderr, "deadlock a\n");
    return 1;
  }
  if (IS("timed ring")) {
    pthread_barrier_init(&barrier, NULL, 2);
    start(0, timed_ring);
    start(1, timed_ring);
    return settle(2), 1;
  }
  if (IS("condition ring")) return start(0, condition_ring), start(1, condition_ring), settle(2), 1;
  if (IS("semaphore ring")) {
    pthread_barrier_init(&barrier, NULL, 2);
    start(0, semaphore_ring);
    start(1, semaphore_ring);
    return settle(2), 1;
  }
  return 0;
}

// Somebody has the lock.
static int held_locks(const char *name) {
  if (IS("inheriting")) {
    init_all(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT);
    hold_while(sleeps);
    start(1, wants);
    return settle(2), 1;
  }
  if (IS("sleeping owner")) {
    hold_while(sleeps);
    start(1, wants);
    start(2, wants_for_a_time);
    return settle(3), 1;
  }
  if (IS("running owner")) {
    hold_while(runs);
    start(1, wants);
    return settle(1), 1;
  }
  if (IS("rwlock")) {
    hold_while(sleeps);
    start(1, wants_to_read);
    settle(2);
    start(2, wants_to_write);
    start(4, reads);
    while (ready != 2) usleep(1000);
    start(3, wants_to_write);
    return settle(5), 1;
  }
  return 0;
}

// Nobody has it any more, or it is none that can be believed.
static int lost_locks(const char *name) {
  if (IS("ended owner")) {
    start(0, ends_holding);
    pthread_join(thread[0], NULL);
    start(1, wants_of_nobody);
    return settle(1), 1;
  }
#ifdef __GLIBC__
  if (IS("destroyed")) {
    pthread_mutex_lock(&mutex[0]);
    start(1, wants_of_nobody);
    settle(1);
    __atomic_store_n((int *)((char *)&mutex[0] + (sizeof(long) == 8 ? 16 : 12)), -1, 5);
    return 1;
  }
  if (IS("reused")) {
    pthread_mutex_lock(&mutex[0]);
    start(1, wants_of_nobody);
    settle(1);
    memset(&mutex[0], 0x41, sizeof mutex[0]);
    return 1;
  }
  if (IS("given back")) {  // and nobody told: the memory still names an owner
    pthread_mutex_lock(&mutex[0]);
    start(1, wants_of_nobody);
    settle(1);
    *(volatile int *)&mutex[0] = 0;
    return 1;
  }
#endif
  return 0;
}

static int other_waits(const char *name) {
  if (IS("condition")) {
    start(0, waits_for_condition);
    start(1, waits_for_condition);
    return settle(2), 1;
  }
  if (IS("woken")) {  // who was woken wants the mutex back
    start(1, waits_for_condition);
    settle(1);
    fprintf(stderr, "wait b mutex %#lx a\n", (unsigned long)(uintptr_t)&mutex[0]);
    pthread_create(&thread[0], NULL, holder, (void *)sleeps);
    settle(2);
    pthread_cond_signal(&condition);
    return settle(2), 1;
  }
  if (IS("semaphore")) return start(0, waits_for_semaphore), settle(1), 1;
  if (IS("barrier")) return start(0, waits_for_others), settle(1), 1;
  if (IS("once")) return start(0, initializes), start(1, initializes), settle(2), 1;
  if (IS("join")) return start(0, sleeper), start(1, joins), settle(2), 1;
  if (IS("join ring")) {
    start(0, joins_holding);
    settle(2);
    fprintf(stderr, "deadlock a b\n");
    return 1;
  }
#ifdef __GLIBC__
  if (IS("timed join")) return start(0, sleeper), start(1, joins_for_a_time), settle(2), 1;
  if (IS("timed join ring")) return start(0, joins_holding_for_a_time), settle(2), 1;
#endif
  if (IS("two processes")) return shared_by_processes(), 1;
  if (IS("a word")) return start(0, at_a_word), settle(1), 1;
  return 0;
}

static void scenario(const char *name) {
  pthread_rwlock_init(&rwlock[0], NULL);
  pthread_rwlock_init(&rwlock[1], NULL);
  pthread_barrier_init(&never, NULL, 3);
  sem_init(&semaphore, 0, 0);
  init_all(PTHREAD_MUTEX_NORMAL, 0, 0);
  if (!rings(name) && !held_locks(name) && !lost_locks(name) && !other_waits(name)) exit(2);
}

// WHOCALL_CASE names it; with WHOCALL_CORE it ends in a core.
int main(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  scenario(getenv("WHOCALL_CASE"));
  fprintf(stderr, "done\n");
  if (getenv("WHOCALL_CORE") != NULL) abort();
  for (;;) pause();
}
