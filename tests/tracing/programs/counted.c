/* Eight threads that call functions and count the calls by themselves; then all stand in wait_for_all
 * and one aborts. WORDS: calls of each thread. Prints the counts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAIN __attribute__((no_instrument_function))
#define KEEP __attribute__((noinline, noclone))

enum { kThreads = 8, kFunctions = 5 };
static const char* const kNames[kFunctions] = {"leaf", "odd", "walk", "turn", "wait_for_all"};
static _Thread_local unsigned long counts[kFunctions];
static unsigned long sums[kFunctions];
static unsigned long wanted;
static int done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;

KEEP static int leaf(int n) {
  ++counts[0];
  return n * 3;
}
KEEP static int odd(int n) {
  ++counts[1];
  return leaf(n) + leaf(n + 1);
}
KEEP static int walk(int n) {
  ++counts[2];
  return n == 0 ? 0 : walk(n - 1) + 1;
}
KEEP static int turn(int n) {
  ++counts[3];
  return odd(n) + (n % 16 == 0 ? walk(n % 37) : leaf(n));
}
KEEP static void wait_for_all(int level) {
  if (level > 0) {
    wait_for_all(level - 1);
    __asm__ volatile("");
    return;
  }
  if (pthread_barrier_wait(&all) == PTHREAD_BARRIER_SERIAL_THREAD) {
    abort();
  }
  pthread_barrier_wait(&all);
}

PLAIN static unsigned long total(void) {
  unsigned long sum = 0;
  for (int at = 0; at < kFunctions; ++at) {
    sum += counts[at];
  }
  return sum;
}

PLAIN static void* run(void* number) {
  const int levels = (int)(long)number;
  const unsigned long last = wanted - (unsigned long)levels - 1;
  for (unsigned at = 0; total() < last; ++at) {
    if (last - total() > 50) {
      turn((int)at);
    } else {
      leaf((int)at);
    }
  }
  counts[4] += (unsigned long)levels + 1;
  pthread_mutex_lock(&lock);
  for (int at = 0; at < kFunctions; ++at) {
    sums[at] += counts[at];
  }
  if (++done == kThreads) {
    for (int at = 0; at < kFunctions; ++at) {
      printf("%s %lu\n", kNames[at], sums[at]);
    }
    fflush(stdout);
  }
  pthread_mutex_unlock(&lock);
  wait_for_all(levels);
  return NULL;
}

PLAIN int main(int count, char** words) {
  pthread_t threads[kThreads];
  wanted = count > 1 ? strtoul(words[1], NULL, 10) : 1250000;
  pthread_barrier_init(&all, NULL, kThreads);
  for (long at = 0; at < kThreads; ++at) {
    pthread_create(&threads[at], NULL, run, (void*)at);
  }
  for (int at = 0; at < kThreads; ++at) {
    pthread_join(threads[at], NULL);
  }
  return 0;
}
