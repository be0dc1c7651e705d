/* A crash in an atexit handler: after main returned (BY_RETURN 1) or in exit() called deep below it (0). */
#include <stdlib.h>

#include "truth.h"

NOINLINE static int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE static void at_exit(void) {
    TRUTH_ENTER(at_exit);
    truth_zero = fault(1) + 1;
    TRUTH_LEAVE();
}

NOINLINE static int finish(int x) {
    TRUTH_ENTER(finish);
    if (!BY_RETURN)
        exit(x);
    TRUTH_LEAVE();
    return x;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    atexit(at_exit);
    int y = finish(argc) + 1;
    TRUTH_LEAVE();
    return y;
}
