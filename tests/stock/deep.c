/* Recursion N levels deep, then abort(): the shape of endless recursion. It runs in a thread with a stack of the size
 * that N levels need, so that no limit of the machine matters. Two functions take turns, with different frames. */
#include <pthread.h>
#include <stdlib.h>

enum { BYTES_A_LEVEL = 160, SPARE_BYTES = 1 << 20 };

static volatile long sink;

__attribute__((noipa)) static long narrow_level(long left, long value);

/* Its call of abort() is its last instruction: the return address lies behind the function's end. */
__attribute__((noipa)) static long innermost(void) { abort(); }

__attribute__((noipa)) static long wide_level(long left, long value) {
  volatile long local[7] = {value};
  long below = left ? narrow_level(left - 1, value + local[0]) : innermost();
  return below ^ value;
}

__attribute__((noipa)) static long narrow_level(long left, long value) {
  long below = left ? wide_level(left - 1, value * 3) : innermost();
  return below + left;
}

__attribute__((noipa)) static void *thread_main(void *levels) {
  sink = wide_level((long)levels - 1, 1);
  return NULL;
}

int main(int argc, char **argv) {
  long levels = argc > 1 ? atol(argv[1]) : 1;
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, (size_t)levels * BYTES_A_LEVEL + SPARE_BYTES)) return 1;
  if (pthread_create(&thread, &attributes, thread_main, (void *)levels)) return 1;
  pthread_join(thread, NULL);
  return 0;
}
