/* A chain from the executable through a shared library and back by a callback. */
#include "truth.h"

typedef int visitor(int);
int library_visit(visitor *visit, int x);

NOINLINE static int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE static int visit(int x) {
    TRUTH_ENTER(visit);
    int y = fault(x) + 1;
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = library_visit(visit, argc) + 1;
    TRUTH_LEAVE();
    return y;
}
