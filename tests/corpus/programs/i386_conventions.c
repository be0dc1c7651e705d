/* i386 only: callees that pop their arguments (stdcall), register arguments (fastcall, regparm). */
#include "truth.h"

__attribute__((stdcall)) NOINLINE int pops(int a, int b, int c) {
    TRUTH_ENTER(pops);
    *truth_null = a + b + c;
    TRUTH_LEAVE();
    return a;
}

__attribute__((fastcall)) NOINLINE int fast(int a, int b, int c) {
    TRUTH_ENTER(fast);
    int y = pops(a, b + 1, c) * 3;
    TRUTH_LEAVE();
    return y;
}

__attribute__((regparm(3))) NOINLINE int registers(int a, int b, int c) {
    TRUTH_ENTER(registers);
    int y = fast(a, b, c + 1) + a;
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    (void)argv;
    int y = registers(argc, 2, 3) + 1;
    TRUTH_LEAVE();
    return y;
}
