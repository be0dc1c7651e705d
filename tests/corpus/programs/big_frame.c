/* Frames larger than a page, than 32 KiB and than any scan would look through, and one realigned to 64 bytes. */
#include "truth.h"

NOINLINE int fault(volatile int *numbers, int x) {
    TRUTH_ENTER(fault);
    *truth_null = numbers[x];
    TRUTH_LEAVE();
    return x;
}

NOINLINE int aligned(int x) {
    TRUTH_ENTER(aligned);
    volatile int numbers[32] __attribute__((aligned(64)));
    numbers[x] = x;
    int y = fault(numbers, x) + numbers[x];
    TRUTH_LEAVE();
    return y;
}

NOINLINE int large(int x) {
    TRUTH_ENTER(large);
    volatile int numbers[1500];
    numbers[x] = x;
    int y = aligned(x) + numbers[x];
    TRUTH_LEAVE();
    return y;
}

NOINLINE int huge(int x) {
    TRUTH_ENTER(huge);
    volatile int numbers[30000];
    numbers[x * 100] = x;
    int y = large(x) + numbers[x * 100];
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = huge(argc);
    TRUTH_LEAVE();
    return y;
}
