/* A buffer overrun upwards: SIZE bytes above a buffer are lost, with them saved registers and return addresses.
 *
 * FILL  0: 0x41, 1: random bytes, 2: addresses of the heap, 3: addresses of data
 * LEVEL how many calls below the overrun the crash is; 0: at the return of the function that overran
 */
#include <stdlib.h>

#include "truth.h"

static uintptr_t *heap;
static uintptr_t data[16];

NOINLINE int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE int below(int x) {
    TRUTH_ENTER(below);
    int y = fault(x + 1) + 1;
    TRUTH_LEAVE();
    return y;
}

/* Nothing of what it uses itself lies above the buffer. */
NOINLINE void overrun(unsigned char *bytes) {
    uintptr_t seed = 88172645;
    for (unsigned i = 0; i < SIZE; i += sizeof(uintptr_t)) {
        seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
        uintptr_t word = FILL == 0   ? (uintptr_t)0x4141414141414141
                         : FILL == 1 ? seed * (uintptr_t)0x9e3779b97f4a7c15
                         : FILL == 2 ? (uintptr_t)(heap + i)
                                     : (uintptr_t)(data + i % 16);
        __builtin_memcpy(bytes + i, &word, sizeof word);
    }
}

NOINLINE int careless(int x) {
    TRUTH_ENTER(careless);
    unsigned char bytes[32] = {(unsigned char)x};
    unsigned char *volatile escape = bytes;
    overrun(escape + sizeof bytes);
    int y = LEVEL == 0 ? x : LEVEL == 1 ? fault(2) : below(3);
    TRUTH_LEAVE();
    return y;
}

NOINLINE int small(int x) {
    TRUTH_ENTER(small);
    int y = careless(x + 1) + 1;
    TRUTH_LEAVE();
    return y;
}

NOINLINE int saving(int x, int y) {
    TRUTH_ENTER(saving);
    int a = x * y, b = x - y, c = x ^ y;
    int z = small(a) + small(b) * a + small(c) * b + c;
    TRUTH_LEAVE();
    return z;
}

NOINLINE int roomy(int x) {
    TRUTH_ENTER(roomy);
    char room[72];
    char *volatile escape = room;
    escape[0] = (char)x;
    int y = saving(x, 3) + escape[0];
    TRUTH_LEAVE();
    return y;
}

NOINLINE int forward(int x, int y, int z) {
    TRUTH_ENTER(forward);
    int w = roomy(x + y) + z;
    TRUTH_LEAVE();
    return w;
}

NOINLINE int loop(int x) {
    TRUTH_ENTER(loop);
    int y = 0;
    for (int i = 0; i < x; i++)
        y += forward(i, x, y);
    TRUTH_LEAVE();
    return y;
}

NOINLINE int wide(int x) {
    TRUTH_ENTER(wide);
    char room[200];
    char *volatile escape = room;
    escape[0] = (char)x;
    int y = loop(x + 2) + escape[0];
    TRUTH_LEAVE();
    return y;
}

NOINLINE int choose(int x) {
    TRUTH_ENTER(choose);
    int y = x > 100 ? x : wide(x + 1) - x;
    TRUTH_LEAVE();
    return y;
}

NOINLINE int outer(int x) {
    TRUTH_ENTER(outer);
    int y = choose(x) + choose(x + 1);
    TRUTH_LEAVE();
    return y;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    heap = malloc(8192);
    int y = outer(argc) + argc;
    TRUTH_LEAVE();
    return y;
}
