/* Calls a small function as often as the first word says; prints the nanoseconds of processor time
 * that one call took. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function))

static volatile int added;

__attribute__((noinline, noclone)) static int leaf(int n) { return n + added; }

PLAIN static double spent(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

PLAIN int main(int count, char** words) {
  const long calls = count > 1 ? atol(words[1]) : 1000000;
  int sum = 0;
  for (long at = 0; at < calls / 10; ++at) {
    sum += leaf((int)at); /* memory is touched */
  }
  const double begin = spent();
  for (long at = 0; at < calls; ++at) {
    sum += leaf((int)at);
  }
  const double end = spent();
  added = sum;
  printf("%.3f\n", (end - begin) / (double)calls);
  return 0;
}
