/* The program of the article that began it ("Who Call Me?", 2004): the same functions call each
 * other in the same order, and each of the last ones asks who called it. There the callers came from
 * %ebp and the names from a table that libbfd had read, of a program without optimization on IA32.
 * Build: gcc -O2 article.c
 */
#include <whocall.h>

#define KEPT __attribute__((noinline))
#define STAY() __asm__ volatile("" ::: "memory") /* or the call becomes a jump */

KEPT void test(void) {
  who_call_me(NULL);
  STAY();
}

KEPT void test_c(void) {
  who_call_me(NULL);
  STAY();
}

KEPT void test_b(void) {
  test();
  STAY();
}

KEPT void test_a(void) {
  test_b();
  test_c();
  STAY();
}

int main(void) {
  test();
  test_a();
  test_b();
  test_c();
  return 0;
}
