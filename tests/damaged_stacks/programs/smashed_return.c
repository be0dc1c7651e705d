/* The return address of a function in the middle of the chain is overwritten, everything else is whole.
 * FAULT_AT_RETURN: the crash is that function's own return, otherwise it is deeper below. */
#include "truth.h"

NOINLINE int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

/* Overwrites the words above `from` that are the complement of `mask`: a return address of which no copy may survive. */
NOINLINE void smash(uintptr_t *from, uintptr_t mask) {
    for (int i = 0; i < 40; i++)
        if (~from[i] == mask)
            from[i] = (uintptr_t)0x4141414141414141;
}

NOINLINE int below(int x) {
    TRUTH_ENTER(below);
    int y = fault(x + 1) + 1;
    TRUTH_LEAVE();
    return y;
}

NOINLINE int careless(int x) {
    TRUTH_ENTER(careless);
    uintptr_t words[5] = {(uintptr_t)x};
    uintptr_t *volatile escape = words;
    smash(escape, ~(uintptr_t)__builtin_return_address(0));
    int y = FAULT_AT_RETURN ? x : below(x) + 1;
    TRUTH_LEAVE();
    return y + (int)escape[1];
}

NOINLINE int caller(int x) {
    TRUTH_ENTER(caller);
    int y = careless(x + 2) * 2;
    TRUTH_LEAVE();
    return y;
}

NOINLINE int work(int x, int y) {
    TRUTH_ENTER(work);
    char room[60];
    char *volatile escape = room;
    escape[0] = 1;
    int z = caller(x * y) + caller(y) + escape[0];
    TRUTH_LEAVE();
    return z;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    int y = work(argc, argc + 1) + argc;
    TRUTH_LEAVE();
    return y;
}
