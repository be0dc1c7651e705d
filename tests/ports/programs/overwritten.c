/* A function that overwrites SIZE bytes of the stack from its own frame upwards, then faults: what
 * it saved for its callers is gone, the frames beyond are whole. */
#include <string.h>

#include "truth.h"

static volatile unsigned long size = SIZE;

NOINLINE static void overrun(void) {
    TRUTH_ENTER(overrun);
    volatile char buffer[16];
    volatile char *to = buffer;
    for (unsigned long i = 0; i < sizeof buffer + size; i++)
        to[i] = 'A';
    *truth_null = to[3];
    TRUTH_LEAVE();
}

NOINLINE static int parse(int depth) {
    TRUTH_ENTER(parse);
    volatile char line[48];
    line[depth] = 1;
    int y = line[depth];
    if (depth == 0)
        overrun();
    else
        y += parse(depth - 1) + line[depth];
    TRUTH_LEAVE();
    return y;
}

NOINLINE static int serve(int depth) {
    TRUTH_ENTER(serve);
    int y = parse(depth + 5) * 2;
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = serve(argc);
    TRUTH_LEAVE();
    return y;
}
