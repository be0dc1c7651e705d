/* Frames of several sizes whose registers a routine of the compiler's library saves, where the
 * compiler is told so: from the return address alone to nearly all registers. */
#include "truth.h"

NOINLINE static int same(int x) { return x + truth_zero; }

NOINLINE static int fault(int x) {
    TRUTH_ENTER(fault);
    int y = same(x);
    *truth_null = y;
    y += same(y);
    TRUTH_LEAVE();
    return y;
}

NOINLINE static int few(int a, int b) {
    TRUTH_ENTER(few);
    int y = fault(a) + b;
    y += same(y) * b;
    TRUTH_LEAVE();
    return y;
}

NOINLINE static int many(int a, int b, int c, int d, int e, int f) {
    TRUTH_ENTER(many);
    int g = same(a + 1), h = same(b + 2), i = same(c + 3), j = same(d + 4);
    int y = few(a, b);
    y += same(y + c) * d + same(e) * f;
    y += same(g * h + i) * j + a * b * c * d * e * f;
    TRUTH_LEAVE();
    return y + g + h + i + j;
}

NOINLINE static int large(int x) {
    TRUTH_ENTER(large);
    volatile int numbers[30000];
    numbers[x * 100] = x;
    int y = many(x, x + 1, x + 2, x + 3, x + 4, x + 5) + numbers[x * 100];
    y += same(y);
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = large(argc) + same(argc);
    TRUTH_LEAVE();
    return y;
}
