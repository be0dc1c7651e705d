/* abort() at the very end of functions: the return address then belongs to the next function, or to padding. */
#include <stdlib.h>

#include "truth.h"

NOINLINE void give_up(int x) {
    TRUTH_ENTER(give_up);
    truth_zero = x;
    abort();
}

NOINLINE void check(int x) {
    TRUTH_ENTER(check);
    if (x != truth_zero)
        give_up(x);
    TRUTH_LEAVE();
}

NOINLINE int work(int x) {
    TRUTH_ENTER(work);
    check(x + 1);
    TRUTH_LEAVE();
    return x;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = work(argc);
    TRUTH_LEAVE();
    return y;
}
