/* A timer's handler on the same stack that interrupts a leaf in the middle, then aborts. */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "truth.h"

static volatile unsigned spinning;

NOINLINE void on_timer(int number) {
    TRUTH_ENTER(on_timer);
    if (!spinning) { /* a slow machine: let the leaf begin */
        TRUTH_LEAVE();
        return;
    }
    truth_zero = number;
    abort();
}

NOINLINE unsigned leaf(unsigned x) {
    TRUTH_ENTER(leaf);
    for (;;) {
        x = x * 1664525u + 1013904223u;
        spinning = x | 1;
        if (spinning == 0)
            break;
    }
    TRUTH_LEAVE();
    return x;
}

NOINLINE unsigned work(unsigned x) {
    TRUTH_ENTER(work);
    unsigned y = leaf(x) + 1;
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_SIGINFO * 0};
    struct itimerval timer = {.it_interval = {0, 20000}, .it_value = {0, 20000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    int y = (int)work((unsigned)argc);
    TRUTH_LEAVE();
    return y;
}
