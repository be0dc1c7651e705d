/* The stack protector's abort: the canary is gone, the return address is not. */
#include "truth.h"

#ifdef __x86_64__
#define CANARY "%%fs:0x28"
#else
#define CANARY "%%gs:0x14"
#endif

NOINLINE int overrun(int x) {
    TRUTH_ENTER(overrun);
    char bytes[24] = {0};
    char *volatile escape = bytes;
    uintptr_t canary;
    __asm__("mov " CANARY ", %0" : "=r"(canary));
    uintptr_t *word = (uintptr_t *)((uintptr_t)escape & ~(sizeof(uintptr_t) - 1));
    for (int i = 0; i < 64; i++, word++)
        if (*word == canary) { /* an overrun that stops just before the saved registers */
            *word = ~canary;
            break;
        }
    TRUTH_LEAVE();
    return x + escape[1];
}

NOINLINE int work(int x) {
    TRUTH_ENTER(work);
    int y = overrun(x) + 1;
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
