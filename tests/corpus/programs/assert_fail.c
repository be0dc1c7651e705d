/* A failed assertion: three frames of the C library above a noreturn call. */
#undef NDEBUG
#include <assert.h>

#include "truth.h"

NOINLINE int parse(int x) {
    TRUTH_ENTER(parse);
    assert(x == truth_zero);
    TRUTH_LEAVE();
    return x;
}

NOINLINE int load(int x) {
    TRUTH_ENTER(load);
    int y = parse(x + 1) * 2;
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = load(argc);
    TRUTH_LEAVE();
    return y;
}
