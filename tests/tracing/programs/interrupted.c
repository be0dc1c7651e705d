/* A signal comes after every instruction, those of the hooks among them (by the trap flag of x86);
 * its handler is instrumented too. The program counts calls by itself, and prints the counts. With a
 * word: in a thread whose handlers have a stack of their own, above that of the thread. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#include "runtime/trace/whocall_trace.h"

#define KEEP __attribute__((noinline, noclone))

static unsigned long leaves, handlers, helpers, wrong;

KEEP static void work(void);
KEEP static void turns(void);

KEEP static void leaf(void) {
  ++leaves;
  whocall_trace_call own[3];
  wrong += whocall_trace_stack(own, 3) != 3 || own[0].function != (void*)leaf ||
           own[1].function != (void*)work || own[2].function != (void*)turns;
}
KEEP static void helper(int level) {
  ++helpers;
  if (level > 0) {
    helper(level - 1);
    __asm__ volatile("");
  }
}
KEEP static void handler(int signal) {
  (void)signal;
  ++handlers;
  helper(2);
  helper(1);
  whocall_trace_call top;
  whocall_trace_stack(&top, 1);
  wrong += top.function != (void*)handler;
}
KEEP static void work(void) {
  leaf();
  leaf();
}

__attribute__((always_inline, no_instrument_function)) static inline void step(int on) {
  if (on) {
    __asm__ volatile("pushf; orl $0x100, (%%rsp); popf" : : : "memory", "cc");
  } else {
    __asm__ volatile("pushf; andl $~0x100, (%%rsp); popf" : : : "memory", "cc");
  }
}

KEEP static void turns(void) {
  const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGTRAP, &action, NULL);
  for (int turn = 0; turn < 10; ++turn) {
    step(1);
    work();
    step(0);
    whocall_trace_call top;
    wrong += whocall_trace_stack(&top, 1) == 0 || top.function != (void*)turns;
  }
}

enum { kStack = 1 << 20 };

__attribute__((no_instrument_function)) static void* in_thread(void* memory) {
  const stack_t above = {.ss_sp = (char*)memory + kStack, .ss_size = kStack};
  sigaltstack(&above, NULL);
  turns();
  return NULL;
}

__attribute__((no_instrument_function)) int main(int count, char** words) {
  (void)words;
  if (count > 1) {
    pthread_t thread;
    pthread_attr_t attributes;
    char* const memory =
        mmap(NULL, 2 * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory, kStack);
    pthread_create(&thread, &attributes, in_thread, memory);
    pthread_join(thread, NULL);
  } else {
    turns();
  }
  printf("leaf %lu\nhandler %lu\nhelper %lu\nwrong %lu\n", leaves, handlers, helpers, wrong);
  return 0;
}
