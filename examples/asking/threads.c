/* Threads: each asks for itself, in a function that all share.
 * Build: gcc -O2 -pthread threads.c
 */
#include <pthread.h>
#include <whocall.h>

static __attribute__((noinline)) void shared(void) {
  who_call_me(NULL);
  __asm__ volatile("");
}

static void *reader(void *unused) {
  shared();
  return unused;
}

static void *writer(void *unused) {
  shared();
  return unused;
}

int main(void) {
  void *(*const works[])(void *) = {reader, writer};
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, works[i % 2], NULL);
    pthread_join(thread, NULL);
  }
  return 0;
}
