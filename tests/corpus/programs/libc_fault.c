/* A bad pointer handed to a function of the C library through the PLT: FAULT is the call. */
#include <stdlib.h>
#include <string.h>

#include "truth.h"

static char *volatile bad_pointer = (char *)16;
static char buffer[64];
volatile size_t result;

NOINLINE int copy(int x) {
    TRUTH_ENTER(copy);
    result = (size_t)(FAULT);
    TRUTH_LEAVE();
    return x + buffer[x];
}

NOINLINE int work(int x) {
    TRUTH_ENTER(work);
    int y = copy(x) + 1;
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = work(argc * 8) + 1;
    TRUTH_LEAVE();
    return y;
}
