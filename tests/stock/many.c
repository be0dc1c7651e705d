/* N threads, each exactly OWN_FRAMES of our own functions deep and blocked in pause(): the shape of a big server.
 *
 * Even and odd levels are different functions with different frames. The work after each call keeps it from becoming a
 * tail call, noipa keeps it from being cloned or inlined. One byte on standard output says that all threads are in
 * place; that each of them sleeps in pause() is for the observer to see in /proc. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

enum { OWN_FRAMES = 20, STACK_BYTES = 64 * 1024 };

static sem_t in_place;
static volatile long sink;

__attribute__((noipa)) static long even_level(int left, long value);

__attribute__((noipa)) static long innermost(long value) {
  sem_post(&in_place);
  for (;;) pause();
  return value;
}

__attribute__((noipa)) static long odd_level(int left, long value) {
  volatile long local[9] = {value};
  long below = left ? even_level(left - 1, value + 1) : innermost(value);
  sink += local[0];
  return below ^ value;
}

__attribute__((noipa)) static long even_level(int left, long value) {
  long below = left ? odd_level(left - 1, value * 3) : innermost(value);
  sink += value;
  return below + left;
}

/* thread_main and innermost are two of the own frames, the levels between them are the others. */
__attribute__((noipa)) static void *thread_main(void *argument) {
  sink = even_level(OWN_FRAMES - 3, (long)argument);
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  pthread_attr_t attributes;
  pthread_t thread;
  sem_init(&in_place, 0, 0);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  for (long number = 0; number < threads; number++)
    if (pthread_create(&thread, &attributes, thread_main, (void *)number)) return 1;
  for (int number = 0; number < threads; number++) sem_wait(&in_place);
  if (write(STDOUT_FILENO, "!", 1) != 1) return 1;
  for (;;) pause();
}
