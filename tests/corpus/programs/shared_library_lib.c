/* The library of shared_library.c: one exported function, hidden ones behind it. */
#define TRUTH_FILE 1
#include "truth.h"

typedef int visitor(int);

NOINLINE static int walk(visitor *visit, int x) {
    TRUTH_ENTER(walk);
    int y = 0;
    for (int i = 0; i < x; i++)
        y += visit(i);
    TRUTH_LEAVE();
    return y;
}

NOINLINE static int prepare(visitor *visit, int x) {
    TRUTH_ENTER(prepare);
    volatile int numbers[100];
    numbers[x] = x;
    int y = walk(visit, numbers[x] + 1) + 1;
    TRUTH_LEAVE();
    return y;
}

int library_visit(visitor *visit, int x) {
    TRUTH_ENTER(library_visit);
    int y = prepare(visit, x) + 1;
    TRUTH_LEAVE();
    return y;
}
