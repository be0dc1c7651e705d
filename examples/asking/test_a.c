/* Three files, a function in each: the last one asks for the whole way to it.
 * Build: gcc -O2 test_a.c test_b.c test_c.c
 */
void test_b(int depth);

__attribute__((noinline)) void test_a(int depth) {
  test_b(depth + 1);
  __asm__ volatile("");
}

int main(void) {
  test_a(0);
  return 0;
}
