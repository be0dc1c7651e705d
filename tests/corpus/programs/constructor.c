/* A crash before main, in a function of .init_array. */
#include "truth.h"

NOINLINE static int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

__attribute__((constructor(500))) static void before_main(void) {
    TRUTH_ENTER(before_main);
    truth_zero = fault(1) + 1;
    TRUTH_LEAVE();
}

int main(void) {
    TRUTH_ENTER(main);
    TRUTH_LEAVE();
    return 0;
}
