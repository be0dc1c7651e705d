/* A coroutine (makecontext): its stack is a static array and ends in the C library's start of contexts. */
#include <ucontext.h>

#include "truth.h"

static ucontext_t home, away;
static char stack[64 * 1024];

NOINLINE int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE void coroutine(void) {
    TRUTH_ENTER(coroutine);
    truth_zero = fault(1) + 1;
    TRUTH_LEAVE();
}

int main(void) {
    truth_zero = 0; /* no record: main is on another stack than the one that crashes */
    getcontext(&away);
    away.uc_stack.ss_sp = stack;
    away.uc_stack.ss_size = sizeof stack;
    away.uc_link = &home;
    makecontext(&away, coroutine, 0);
    swapcontext(&home, &away);
    return 0;
}
