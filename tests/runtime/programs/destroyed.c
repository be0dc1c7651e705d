/* A random crash of a process in which much is destroyed before: `destroyed SEED`. */
#define _GNU_SOURCE
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))
#define STAY() __asm__ volatile("" ::: "memory")

extern char **environ;
static uint64_t state;
static volatile int *volatile nowhere = (int *)16;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

static void fill(void *place, size_t size) {
  static const unsigned char patterns[] = {0, 0xff, 0x41, 0xa5};
  memset(place, patterns[draw(sizeof patterns)], size);
}

/* From the first block on that malloc() has given. */
static void destroy_heap(void) {
  char *const block = malloc(100);
  if (block != NULL && (char *)sbrk(0) > block) fill(block, (size_t)((char *)sbrk(0) - block));
}

/* What the dynamic linker and debuggers read. */
static void destroy_modules(void) {
  for (struct link_map *each = _r_debug.r_map; each != NULL;) {
    struct link_map *const next = each->l_next;
    each->l_name = (char *)(uintptr_t)(8 + draw(100));
    if (draw(2) == 0) each->l_next = (struct link_map *)(uintptr_t)draw(4096);
    if (draw(2) == 0) each->l_ld = NULL;
    each = next;
  }
}

static void destroy_environment(void) {
  for (char **each = environ; *each != NULL; ++each) fill(*each, strlen(*each));
  environ = (char **)16;
}

/* Of the functions that have called this one: their callers cannot be told. */
KEPT static void destroy_stack(void) {
  char *const here = __builtin_frame_address(0);
  fill(here + 64, 64 + draw(2000));
}

KEPT static void crash(void) {
  const unsigned kind = draw(4);
  if (kind == 0) abort();
  if (kind == 1) { void (*volatile function)(void) = NULL; function(); }
  if (kind == 2) { free(malloc(10)); free((void *)(uintptr_t)24); }
  *nowhere = 1;
  STAY();
}

KEPT static void deeper(unsigned left) {
  volatile char room[300];
  room[draw(300)] = 1;
  if (left > 0) {
    deeper(left - 1);
  } else {
    if (draw(2) == 0) destroy_environment();
    if (draw(2) == 0) destroy_heap();
    if (draw(2) == 0) destroy_modules();
    if (draw(3) == 0) destroy_stack();
    crash();
  }
  STAY();
}

static void *in_thread(void *unused) {
  deeper(draw(10));
  return unused;
}

int main(int count, char **words) {
  state = count > 1 ? strtoull(words[1], NULL, 0) * 2654435761u + 99 : 1;
  draw(2);
  if (draw(3) == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
  }
  deeper(draw(10));
  return 0;
}
