/* A SIGSEGV handler on an alternate stack that aborts: the chain goes from one stack to the other and down to main. */
#include <signal.h>
#include <stdlib.h>

#include "truth.h"

static char alternate[64 * 1024];

NOINLINE void report(int number) {
    TRUTH_ENTER(report);
    truth_zero = number;
    abort();
}

NOINLINE void on_fault(int number) {
    TRUTH_ENTER(on_fault);
    report(number + 1);
    TRUTH_LEAVE();
}

NOINLINE int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE int work(int x) {
    TRUTH_ENTER(work);
    int y = fault(x) + 1;
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    int y = work(argc);
    TRUTH_LEAVE();
    return y;
}
