/* A signal comes after every instruction, those of the hooks among them (by the trap flag of x86);
 * its handler is instrumented too. The program counts calls by itself, and prints the counts. */
#include <signal.h>
#include <stdio.h>

#include "runtime/trace/whocall_trace.h"

#define KEEP __attribute__((noinline, noclone))

static unsigned long leaves, handlers, helpers, wrong;

KEEP static void leaf(void) { ++leaves; }
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

int main(void) {
  const struct sigaction action = {.sa_handler = handler};
  sigaction(SIGTRAP, &action, NULL);
  for (int turn = 0; turn < 10; ++turn) {
    step(1);
    work();
    step(0);
    whocall_trace_call top;
    wrong += whocall_trace_stack(&top, 1) != 1 || top.function != (void*)main;
  }
  printf("leaf %lu\nhandler %lu\nhelper %lu\nwrong %lu\n", leaves, handlers, helpers, wrong);
  return 0;
}
