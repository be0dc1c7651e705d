/* A handler interrupted by another signal's handler: two signal frames in one chain, with SA_SIGINFO. */
#include <signal.h>
#include <stdlib.h>

#include "truth.h"

NOINLINE void inner_handler(int number, siginfo_t *info, void *context) {
    TRUTH_ENTER(inner_handler);
    (void)info, (void)context;
    *truth_null = number;
    TRUTH_LEAVE();
}

NOINLINE void outer_handler(int number, siginfo_t *info, void *context) {
    TRUTH_ENTER(outer_handler);
    (void)info, (void)context;
    raise(SIGUSR2);
    truth_zero = number;
    TRUTH_LEAVE();
}

NOINLINE int work(int x) {
    TRUTH_ENTER(work);
    raise(SIGUSR1);
    TRUTH_LEAVE();
    return x + truth_zero;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    struct sigaction outer = {.sa_sigaction = outer_handler, .sa_flags = SA_SIGINFO};
    struct sigaction inner = {.sa_sigaction = inner_handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &outer, NULL);
    sigaction(SIGUSR2, &inner, NULL);
    int y = work(argc);
    TRUTH_LEAVE();
    return y;
}
