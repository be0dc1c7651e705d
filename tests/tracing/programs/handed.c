/* Functions that are handed much, in registers and on the stack: a hook must leave all of it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline, noclone))
#define STAY() __asm__ volatile("" ::: "memory")

KEPT static int leaf(int x) {
  STAY();
  return x + 1;
}
KEPT static int six(int a, int b, int c, int d, int e, int f) {
  const int sum = a + b + c + d + e + f;
  STAY();
  return leaf(sum) - 1;
}
KEPT static double ten(double a, double b, int c, int d, int e, int f, int g, int h, int i, float j) {
  const double sum = a + b + c + d + e + f + g + h + i + j;
  STAY();
  return sum + leaf(0) - 1;
}
KEPT static int mixed(int count, ...) {
  va_list rest;
  va_start(rest, count);
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += i % 2 == 0 ? va_arg(rest, int) : (int)va_arg(rest, double);
  va_end(rest);
  STAY();
  return leaf(sum) - 1;
}
struct whole {
  double first;
  long second[4];
};
KEPT static struct whole made(double x) {
  const struct whole result = {x, {1, 2, 3, 4}};
  STAY();
  return result;
}

int main(void) {
  int integers = 0, sum = 0;
  double all = 0;
  for (int i = 0; i < 20; ++i) {
    integers = six(1, 3, 5, 7, 9, 11);
    all = ten(1.25, 2.25, 3, 4, 5, 6, 7, 8, 4, 4.0f);
    sum = mixed(6, 10, 20.0, 30, 40.0, 15, 5.0);
  }
  printf("%d %g %d %g\n", integers, all, sum, made(3.25).first);
  fflush(stdout);
  abort();
}
