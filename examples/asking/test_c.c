#include <stdio.h>
#include <whocall.h>

void test_c(int depth) {
  whocall_frame frames[16];
  const size_t count = whocall_backtrace(frames, 16);
  printf("test_c at depth %d\n", depth);
  fflush(stdout);
  whocall_print(1, frames, count);
}
