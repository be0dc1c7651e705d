/* A longjmp over frames, then a crash on a new chain: stale return addresses lie just below the live ones. */
#include <setjmp.h>

#include "truth.h"

static jmp_buf place;

NOINLINE int deep(int level) {
    TRUTH_ENTER(deep);
    if (level == 0)
        longjmp(place, 1);
    int y = deep(level - 1) + 1;
    TRUTH_LEAVE();
    return y;
}

NOINLINE int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE int restart(int x) {
    TRUTH_ENTER(restart);
    volatile char gap[200]; /* not written: what deep() left stays */
    gap[x] = (char)x;
    int y = fault(x) + gap[x];
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    uintptr_t depth = truth_self->depth;
    int y = 0;
    if (setjmp(place) == 0)
        y = deep(6);
    truth_self->depth = depth;
    y += restart(argc);
    TRUTH_LEAVE();
    return y;
}
