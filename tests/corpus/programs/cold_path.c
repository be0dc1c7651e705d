/* Shrink-wrapped registers and a crash on a path that optimisers move far away (name.cold). */
#include <stdlib.h>

#include "truth.h"

__attribute__((cold)) NOINLINE int complain(int x, int y) {
    TRUTH_ENTER(complain);
    *truth_null = x + y;
    TRUTH_LEAVE();
    return x;
}

NOINLINE int quick(int *array, int x) {
    TRUTH_ENTER(quick);
    int y = array[x] + x;
    if (__builtin_expect(y == 33, 0)) {
        int sum = 0;
        for (int i = 0; i < 4; i++)
            sum += complain(i, y) * array[i];
        TRUTH_LEAVE();
        return sum;
    }
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int array[64], y = 0;
    for (int i = 0; i < 64; i++)
        array[i] = i;
    array[20] = 13;
    for (int i = 0; i < 64; i++)
        y += quick(array, (i * argc) % 64);
    TRUTH_LEAVE();
    return y;
}
