/* A crash at the very first instruction of a function written in assembly: INSTRUCTION is ud2 or int3.
 * Nothing is pushed yet: the return address is the word at the stack pointer. */
#include "truth.h"

int stumble(int x);
__asm__(".text\n"
        ".globl stumble\n"
        ".type stumble, @function\n"
        "stumble:\n"
        ".cfi_startproc\n" INSTRUCTION "\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size stumble, .-stumble\n");

NOINLINE int work(int x) {
    TRUTH_ENTER(work);
    int y = stumble(x) + 1;
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
