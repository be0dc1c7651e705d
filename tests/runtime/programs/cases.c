/* One crash for each case by name: the places where a handler must not lean on anything. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))
#define STAY() __asm__ volatile("" ::: "memory")

static volatile int *volatile nowhere = (int *)16;

KEPT static void plain(void) {
  *nowhere = 1;
  STAY();
}

static volatile int asleep;

static void *sleeper(void *unused) {
  (void)unused;
  asleep = 1;
  for (;;) pause();
  return NULL;
}

static void begin_thread(void *(*function)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, argument) != 0) _exit(9);
}

/* malloc follows a pointer of a free block that was overwritten, its lock held: the process has a
 * second thread. */
KEPT static void in_malloc(void) {
  begin_thread(sleeper, NULL);
  while (!asleep) usleep(100);
  uintptr_t *volatile block = malloc(3000);
  void *volatile behind = malloc(64);
  free(block);
  block[1] = 16;
  void *volatile other = malloc(9000);
  STAY();
  (void)behind;
  (void)other;
}

KEPT static void heap_corrupt(void) {
  char *block = malloc(64);
  memset(block - 16, 0xee, 100000);
  *nowhere = 1;
  STAY();
}

KEPT static void double_free(void) {
  void *volatile block = malloc(2000);
  void *volatile behind = malloc(64);
  free(block);
  free(block);
  STAY();
  (void)behind;
}

/* dlsym() takes the dynamic linker's lock, and then follows the handle. */
KEPT static void in_linker(void) {
  void *volatile found = dlsym((void *)16, "anything");
  STAY();
  (void)found;
}

/* A library whose function chooser crashes while the linker relocates it; its constructor else. */
KEPT static void in_library(const char *path) {
  void *volatile found = dlopen(path, RTLD_NOW);
  STAY();
  if (found == NULL) fprintf(stderr, "%s\n", dlerror());
}

KEPT static int full_stack(int depth) {
  volatile char room[100];
  room[depth % 100] = (char)depth;
  const int sum = full_stack(depth + 1) + room[depth % 7];
  STAY();
  return sum;
}

static void *full_in_thread(void *unused) {
  (void)unused;
  return (void *)(intptr_t)full_stack(0);
}

/* The thread's stack is taken away under it. */
KEPT static void *without_stack(void *unused) {
  pthread_attr_t attributes;
  void *begin = NULL;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &begin, &size);
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)4095;
  munmap(begin, here + 4096 - (uintptr_t)begin);
  STAY();
  return unused;
}

static pthread_barrier_t barrier;

KEPT static void *one_of_eight(void *number) {
  pthread_barrier_wait(&barrier);
  ((volatile int *)(1 + (uintptr_t)number))[0] = 1;
  STAY();
  return number;
}

KEPT static void eight_threads(void) {
  pthread_barrier_init(&barrier, NULL, 8);
  for (uintptr_t i = 0; i < 8; ++i) begin_thread(one_of_eight, (void *)(16 * i));
  for (;;) pause();
}

/* The dynamic linker's own list is damaged: naming a file crashes the handler. */
KEPT static void in_handler(void) {
  struct link_map *map = NULL;
  void *self = dlopen("libc.so.6", RTLD_NOW);
  dlinfo(self, RTLD_DI_LINKMAP, &map);
  map->l_name = (char *)16;
  *nowhere = 1;
  STAY();
}

KEPT static void call_of_nothing(void) {
  void (*volatile function)(void) = NULL;
  function();
  STAY();
}

static void crash_in_handler(int signal) {
  (void)signal;
  plain();
  STAY();
}

KEPT static void in_own_handler(void) {
  signal(SIGUSR1, crash_in_handler);
  raise(SIGUSR1);
  STAY();
}

static void *in_thread(void *function) {
  ((void (*)(void))function)();
  return NULL;
}

static void run_in_thread(void *(*function)(void *), void *argument) {
  begin_thread(function, argument);
  for (;;) pause();
}

int main(int count, char **words) {
  const char *const name = count > 1 ? words[1] : "";
  if (strcmp(name, "plain") == 0) plain();
  if (strcmp(name, "abort") == 0) abort();
  if (strcmp(name, "raise") == 0) raise(SIGILL);
  if (strcmp(name, "trap") == 0) __builtin_trap();
  if (strcmp(name, "in_malloc") == 0) in_malloc();
  if (strcmp(name, "heap_corrupt") == 0) heap_corrupt();
  if (strcmp(name, "double_free") == 0) double_free();
  if (strcmp(name, "in_linker") == 0) in_linker();
  if (strcmp(name, "in_library") == 0 && count > 2) in_library(words[2]);
  if (strcmp(name, "full_stack") == 0) full_stack(0);
  if (strcmp(name, "full_in_thread") == 0) run_in_thread(full_in_thread, NULL);
  if (strcmp(name, "without_stack") == 0) run_in_thread(without_stack, NULL);
  if (strcmp(name, "thread") == 0) run_in_thread(in_thread, (void *)plain);
  if (strcmp(name, "eight_threads") == 0) eight_threads();
  if (strcmp(name, "in_handler") == 0) in_handler();
  if (strcmp(name, "call_of_nothing") == 0) call_of_nothing();
  if (strcmp(name, "in_own_handler") == 0) in_own_handler();
  fprintf(stderr, "no such case: %s\n", name);
  return 2;
}
