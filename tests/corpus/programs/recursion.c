/* Recursion without end, into the guard page of the stack. */
#define TRUTH_DEPTH 8192
#define TRUTH_THREADS 1
#include "truth.h"

NOINLINE int descend(int level) {
    TRUTH_ENTER(descend);
    volatile char locals[1500];
    locals[level % 1500] = (char)level;
    int y = descend(level + 1) + locals[level % 7];
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = descend(argc);
    TRUTH_LEAVE();
    return y;
}
