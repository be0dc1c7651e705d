/* A random way to a random crash: `random_crash SEED`. The same seed takes the same way. */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))
#define STAY() __asm__ volatile("" ::: "memory")
#define KINDS 14
#define STEPS 9

static uint64_t state;
static int left;
static volatile int *volatile nowhere = (int *)16;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

static void step(void);
int main(int count, char **words);

KEPT static int endless(int depth) {
  volatile char room[64];
  room[depth % 64] = (char)depth;
  const int sum = endless(depth + 1) + room[0];
  STAY();
  return sum;
}

KEPT static void crash(void) {
  switch (draw(KINDS)) {
    case 0: *nowhere = 1; break;
    case 1: *(volatile int *)(uintptr_t)main = 2; break;
    case 2: abort();
    case 3: raise(SIGILL); break;
    case 4: __builtin_trap();
    case 5: { volatile int zero = 0; *nowhere = 7 / zero; break; }
    case 6: { void (*volatile function)(void) = NULL; function(); break; }
    case 7: { void (*volatile function)(void) = (void (*)(void))(uintptr_t)0x7000; function(); break; }
    case 8: { char *volatile block = malloc(2000); free(block); free(block); break; }
    case 9: endless(0); break;
    case 10: kill(getpid(), SIGTRAP); pause(); break;
    case 11: memset((void *)nowhere, 1, 100000); break;
    case 12: { volatile size_t length = strlen((const char *)nowhere); (void)length; break; }
    case 13: {
      char *const file = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED,
                              fileno(tmpfile()), 0);
      *(volatile char *)file = 1; /* SIGBUS: the file is empty */
      break;
    }
  }
  STAY();
}

KEPT static void through_small(void) { step(); STAY(); }
KEPT static void through_large(void) {
  volatile char room[5000];
  room[draw(5000)] = 1;
  step();
  STAY();
}
KEPT static void through_alloca(void) {
  volatile char *const room = alloca(16 + draw(3000));
  room[0] = 1;
  step();
  room[1] = 2;
}
KEPT static void through_aligned(void) {
  volatile char room[128] __attribute__((aligned(64)));
  room[draw(128)] = 1;
  step();
  STAY();
}
static int compare(const void *one, const void *other) {
  (void)one;
  (void)other;
  step();
  STAY();
  return 0;
}
KEPT static void through_qsort(void) {
  int numbers[4] = {3, 1, 2, 0};
  qsort(numbers, 4, sizeof numbers[0], compare);
  STAY();
}
static void handler(int number) {
  (void)number;
  step();
  STAY();
}
KEPT static void through_signal(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_NODEFER; /* in a handler once more */
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  STAY();
}
static void *in_thread(void *unused) {
  step();
  STAY();
  return unused;
}
KEPT static void through_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
  STAY();
}
KEPT static long through_many(long a, long b, long c, long d, long e, long f, long g, long h) {
  step();
  STAY();
  return a + b + c + d + e + f + g + h;
}

static void step(void) {
  static void (*const ways[STEPS])(void) = {
      through_small, through_large, through_alloca, through_aligned, through_qsort,
      through_signal, through_thread, through_small, NULL};
  if (left-- <= 0) {
    crash();
  } else {
    void (*const way)(void) = ways[draw(STEPS)];
    if (way == NULL) {
      through_many(1, 2, 3, 4, 5, 6, 7, 8);
    } else {
      way();
    }
  }
  STAY();
}

int main(int count, char **words) {
  state = count > 1 ? strtoull(words[1], NULL, 0) * 2654435761u + 12345 : 1;
  draw(2);
  left = (int)draw(24);
  step();
  return 0;
}
