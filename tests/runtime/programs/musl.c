/* Asks from below the C library, and crashes in it: by musl, whose code has no unwind tables. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <whocall.h>

static void show(void) {
  whocall_frame frames[64];
  whocall_print(1, frames, whocall_backtrace(frames, 64));
}

static int compare(const void* a, const void* b) {
  static int asked;
  if (asked++ == 0) show();
  return *(const int*)a - *(const int*)b;
}

static void handler(int number, siginfo_t* info, void* context) {
  whocall_frame frames[64];
  (void)number;
  (void)info;
  whocall_print(1, frames, whocall_backtrace_context(context, frames, 64));
  show();
  _exit(0);
}

static void* in_thread(void* given) {
  show();
  return given;
}

static void at_end(void) { show(); }

__attribute__((noinline)) void work(const char* way) {
  int numbers[20];
  for (int i = 0; i < 20; i++) numbers[i] = i * 7 % 20;
  if (strcmp(way, "qsort") == 0) {
    qsort(numbers, 20, sizeof *numbers, compare);
  } else if (strcmp(way, "bsearch") == 0) {
    bsearch(numbers, numbers, 20, sizeof *numbers, compare);
  } else if (strcmp(way, "abort") == 0) {
    abort();
  } else if (strcmp(way, "heap") == 0) {
    volatile char* const block = malloc(40);
    for (int i = -16; i < 0; i++) block[i] = 'A';
    free((void*)block);
  } else if (strcmp(way, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
  } else if (strcmp(way, "puts") == 0) {
    puts((const char*)8);
  } else if (strcmp(way, "exit") == 0) {
    atexit(at_end);
    exit(0);
  }
  __asm__ volatile("");
}

int main(int count, char** words) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  (void)count;
  whocall_prepare();
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGABRT, &action, NULL);
  sigaction(SIGILL, &action, NULL);
  sigaction(SIGTRAP, &action, NULL);
  work(words[1]);
  __asm__ volatile("");
  return 0;
}
