/* A function whose own return address is a wild one when it returns: the pc is nowhere, and no word
 * on the stack tells who returned. */
#include "truth.h"

static volatile uintptr_t wild = 0x41414140;

NOINLINE static void touch(volatile uintptr_t *to) { *to = 1; }

/* It calls, so its return address is saved. Only the low bits are compared: Thumb's mark is no part
 * of the address, a signature stands in its high bits. */
NOINLINE static void overrun(void) {
    volatile uintptr_t buffer[2];
    volatile uintptr_t *to = buffer;
    uintptr_t not_own = ~(uintptr_t)__builtin_return_address(0); /* this local is no match */
    touch(to);
    __asm__("" : "+r"(to)); /* AArch64 saves it below the buffer */
    for (int i = -16; i < 64; i++)
        if (((to[i] ^ ~not_own) & 0xfffffffe) == 0)
            to[i] = wild;
    touch(to);
}

NOINLINE static int handle(int x) {
    TRUTH_ENTER(handle);
    overrun();
    int y = x + 1;
    TRUTH_LEAVE();
    return y;
}

NOINLINE static int serve(int x) {
    TRUTH_ENTER(serve);
    int y = handle(x) * 2;
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
