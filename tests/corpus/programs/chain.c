/* A plain chain of calls that ends in a write through NULL. */
#include "truth.h"

NOINLINE int c(int x) {
    TRUTH_ENTER(c);
    int y = x * 3;
    *truth_null = y;
    TRUTH_LEAVE();
    return y;
}

NOINLINE int b(int x) {
    TRUTH_ENTER(b);
    int y = c(x + 1) + c(x + 2);
    TRUTH_LEAVE();
    return y;
}

NOINLINE int a(int x) {
    TRUTH_ENTER(a);
    int y = 0;
    for (int i = 0; i < x; i++)
        y += b(i);
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = a(argc + 2);
    TRUTH_LEAVE();
    return y;
}
