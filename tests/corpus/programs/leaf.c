/* A crash in a leaf that needs no frame (SIGFPE by a division), called out of a loop that has a jump table. */
#include "truth.h"

NOINLINE int divide(int x, int y) {
    TRUTH_ENTER(divide);
    truth_zero = x / y; /* volatile: or else the division sinks below TRUTH_LEAVE */
    TRUTH_LEAVE();
    return truth_zero;
}

NOINLINE int interpret(const char *program, int x) {
    TRUTH_ENTER(interpret);
    for (; *program; program++)
        switch (*program) {
        case 'a': x += 1; break;
        case 'b': x *= 3; break;
        case 'c': x ^= 0x55; break;
        case 'd': x = divide(x, truth_zero); break;
        case 'e': x -= 2; break;
        case 'f': x <<= 1; break;
        default: x = 0;
        }
    TRUTH_LEAVE();
    return x;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = interpret("abcfed", argc) + 1;
    TRUTH_LEAVE();
    return y;
}
