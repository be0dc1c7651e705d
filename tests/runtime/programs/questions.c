/* Asks from inside: who am I, who called me, and by which way. Prints a line for each answer:
 * "question: function [trust]". Functions are static where WITH says so. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "whocall.h"

#ifdef STATIC
#define WITH static
#else
#define WITH
#endif
#define KEPT __attribute__((noinline))
#define STAY() __asm__ volatile("" ::: "memory")

static const char *const trusts[] = {"context", "cfi", "analysis", "frame-pointer"};

static void tell(const char *question, int status, const whocall_frame *frame) {
  const char *const name = status != 0 ? "nobody" : frame->function != NULL ? frame->function : "?";
  printf("%s: %s [%s]\n", question, name, status != 0 ? "-" : trusts[frame->trust]);
}

KEPT WITH void test_c(void) {
  whocall_frame frame;
  tell("who am I", who_am_i(&frame), &frame);
  tell("who called", who_call_me(&frame), &frame);
  whocall_frame frames[64];
  const size_t count = whocall_backtrace(frames, 64);
  void *addresses[64];
  const size_t captured = whocall_capture(addresses, 64);
  size_t same = 0;
  while (same < count && same < captured &&
         (same == 0 || (void *)frames[same].address == addresses[same])) {
    ++same;
  }
  printf("captured: %s\n", same == count && same == captured ? "the same" : "otherwise");
  for (size_t i = 0; i < count; ++i) {
    tell("frame", 0, &frames[i]);
    if (frames[i].function != NULL && strcmp(frames[i].function, "main") == 0) break;
  }
  STAY();
}
KEPT WITH void test_b(void) {
  test_c();
  STAY();
}
KEPT WITH void test_a(void) {
  test_b();
  STAY();
}
static int compare(const void *one, const void *other) {
  static int asked = 0;
  if (asked++ == 0) test_c();
  return *(const int *)one - *(const int *)other;
}
static void handler(int number) {
  test_c();
  (void)number;
  STAY();
}

int main(int count, char **words) {
  const char *const way = count > 1 ? words[1] : "chain";
  if (strcmp(way, "chain") == 0) test_a();
  if (strcmp(way, "qsort") == 0) {
    int numbers[3] = {3, 1, 2};
    qsort(numbers, 3, sizeof numbers[0], compare);
  }
  if (strcmp(way, "signal") == 0) {
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
  }
  whocall_frame frame;
  const int status = find_function_by_addr((const char *)(size_t)&main + 1, &frame);
  tell("by address", status, &frame);
  return 0;
}
