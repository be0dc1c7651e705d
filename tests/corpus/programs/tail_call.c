/* Tail calls: where the optimiser makes a jump of the call, forward() is truly not on the stack. */
#include "truth.h"

NOINLINE int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE int forward(int x) { return fault(x + 1); }

NOINLINE int work(int x) {
    TRUTH_ENTER(work);
    int y = forward(x) + 1;
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = work(argc) + 1;
    TRUTH_LEAVE();
    return y;
}
