/* The C library notices a double free and aborts deep inside itself. */
#include <stdlib.h>

#include "truth.h"

static void *volatile block;

NOINLINE int release(int x) {
    TRUTH_ENTER(release);
    free(block);
    free(block);
    TRUTH_LEAVE();
    return x;
}

NOINLINE int work(int x) {
    TRUTH_ENTER(work);
    block = malloc(2000);
    free(malloc(2000));
    int y = release(x) + 1;
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = work(argc) + 1;
    TRUTH_LEAVE();
    return y;
}
