/* A call through a bad function pointer: TARGET is NULL, unmapped, or data that may not be executed.
 * The return address is the word at the stack pointer and no function covers the pc. */
#include "truth.h"

typedef int callback(int);
unsigned char wild_data[64] = {0xc3};
callback *volatile wild_pointer;

NOINLINE int dispatch(int x) {
    TRUTH_ENTER(dispatch);
    int y = wild_pointer(x) + 1;
    TRUTH_LEAVE();
    return y;
}

NOINLINE int handle(int x) {
    TRUTH_ENTER(handle);
    int y = dispatch(x) * 2;
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    wild_pointer = (callback *)(uintptr_t)TARGET;
    int y = handle(argc);
    TRUTH_LEAVE();
    return y;
}
