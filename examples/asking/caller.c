/* The C test: a function asks who it is and who called it, once by each of two ways.
 * Build: gcc -O2 caller.c
 * Build: gcc -O2 -DSTATIC caller.c     the same with static functions, which dladdr() cannot name
 */
#include <whocall.h>

#ifdef STATIC
#define WITH static
#else
#define WITH
#endif

WITH __attribute__((noinline)) void callee(void) {
  who_am_i(NULL);
  who_call_me(NULL);
  __asm__ volatile("");
}

WITH __attribute__((noinline)) void first_way(void) {
  callee();
  __asm__ volatile("");
}

WITH __attribute__((noinline)) void second_way(void) {
  callee();
  __asm__ volatile("nop"); /* or the compiler makes one function of both ways */
}

int main(void) {
  first_way();
  second_way();
  return 0;
}
