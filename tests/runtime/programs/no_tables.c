/* Frames of many kinds in code that has neither unwind tables nor frame pointers: registers saved,
 * large frames, arguments on the stack, a function that tail-calls, alloca, a callback of qsort.
 * "ask" prints the stack; anything else crashes with it. */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "whocall.h"

#define KEPT __attribute__((noinline, noclone))
#define STAY() __asm__ volatile("" ::: "memory")

static int asks;

KEPT static void ask(volatile int *place) {
  if (!asks) {
    *place = 1;
  }
  whocall_frame frames[64];
  void *addresses[64];
  const size_t count = whocall_backtrace(frames, 64);
  const size_t captured = whocall_capture(addresses, 64);
  printf("captured: %s\n", captured == count ? "as many" : "otherwise");
  for (size_t i = 0; i < count; ++i) {
    printf("frame: %lx %s %d\n", (unsigned long)frames[i].offset, frames[i].module,
           (int)frames[i].trust);
  }
  STAY();
}
KEPT static int many(int a, int b, int c, int d, int e, int f, int g, int h) {
  char text[3000];
  memset(text, a + h, sizeof text);
  ask(NULL);
  STAY();
  return text[b + c + d] + e + f + g;
}
KEPT static int tail(int a, int b) {
  return many(a, b, a, b, a, b, a, b);
}
KEPT static int kept(int a, int b, int c) {
  const int one = tail(a, b);
  STAY();
  const int other = a * b + c;
  STAY();
  return one + other * a + b * c;
}
static int compare(const void *one, const void *other) {
  static int asked;
  int difference = *(const int *)one - *(const int *)other;
  if (asked++ == 0) difference += kept(1, 2, 3) & 1;
  return difference;
}
KEPT static int sized(int size) {
  int *const numbers = alloca(sizeof(int) * (size_t)size);
  for (int i = 0; i < size; ++i) numbers[i] = -i;
  qsort(numbers, (size_t)size, sizeof *numbers, compare);
  STAY();
  return numbers[0];
}
KEPT static int deep(int levels) {
  const int found = levels == 0 ? sized(5) : deep(levels - 1);
  STAY();
  return found + levels;
}

int main(int count, char **words) {
  asks = count > 1 && strcmp(words[1], "ask") == 0;
  return deep(3) == 77;
}
