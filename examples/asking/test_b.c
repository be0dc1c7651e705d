void test_c(int depth);

static __attribute__((noinline)) void between(int depth) {
  test_c(depth + 1);
  __asm__ volatile("");
}

void test_b(int depth) {
  between(depth + 1);
  __asm__ volatile("");
}
