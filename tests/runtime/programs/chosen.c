/* Places that a jump by a table alone leads to, behind calls that do not return: what the call left
 * on the stack is still there for who reads on, and above it lies the return address of another. */
#include <stdio.h>
#include <stdlib.h>
#include <whocall.h>

static whocall_frame asked;
static volatile int told = 9, kept;

__attribute__((noinline, noreturn)) void fatal(int a, int b, int c, int d, int e, int f, int g,
                                               int h) {
  printf("%d\n", a + b + c + d + e + f + g + h);
  exit(1);
}

__attribute__((noinline)) void chooses(int way, int n) {
  static void* const ways[] = {&&plain, &&first, &&asks, &&second};
  goto* ways[way];
plain:
  puts("plain");
  kept = 5;
  return;
first:
  fatal(n, 2, 3, 4, 5, 6, n + 7, 8);
asks:
  told = who_call_me(&asked);
  kept = 2;
  return;
second:
  fatal(n, 2, kept, 4, 5, 6, n + 7, 9);
}

__attribute__((noinline)) void middle(int way) {
  chooses(way, way);
  kept = 3;
}

__attribute__((noinline)) void outer(int way) {
  middle(way);
  kept = 4;
}

int main(int count, char** words) {
  (void)words;
  outer(count + 1);
  printf("%d %s\n", told, told == 0 && asked.function != NULL ? asked.function : "?");
  return 0;
}
