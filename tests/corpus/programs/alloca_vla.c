/* Frames whose size is known at run time only: alloca and variable-length arrays. */
#include <alloca.h>
#include <string.h>

#include "truth.h"

NOINLINE int fault(volatile char *bytes, int x) {
    TRUTH_ENTER(fault);
    *truth_null = bytes[x];
    TRUTH_LEAVE();
    return x;
}

NOINLINE int with_vla(int count) {
    TRUTH_ENTER(with_vla);
    volatile char bytes[count];
    for (int i = 0; i < count; i++)
        bytes[i] = (char)i;
    int y = fault(bytes, count / 2) + bytes[1];
    TRUTH_LEAVE();
    return y;
}

NOINLINE int with_alloca(int count) {
    TRUTH_ENTER(with_alloca);
    char *bytes = alloca((size_t)count);
    memset(bytes, count, (size_t)count);
    int y = with_vla(bytes[count / 2] * 3) + bytes[0];
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = with_alloca(argc * 50);
    TRUTH_LEAVE();
    return y;
}
