/* True callers of functions that never return: the return address is the first byte of the next function. Between the two lies
 * nothing, a thunk (THUNK), five of them (THUNKS) or one that jumps through a pointer (POINTER). */
#include "disturb.h"
#include <signal.h>

volatile int one = 1;
NOINLINE void fatal(void) {
    if (one)
        abort();
}
void (*pointer)(void) = fatal;
void fails(void);
#define THUNK_TO(name, to) ".type " name ",@function\n" name ":\n.cfi_startproc\njmp " to "\n.cfi_endproc\n.size " name ",.-" name "\n"
__asm__(".text\n" THUNK_TO("thunk5", "fatal") THUNK_TO("thunk4", "thunk5") THUNK_TO("thunk3", "thunk4") THUNK_TO("thunk2", "thunk3")
        THUNK_TO("thunk1", "thunk2") THUNK_TO("pointed", "*pointer(%rip)"));
#if defined THUNK
#define CALLED "thunk5"
#elif defined THUNKS
#define CALLED "thunk1"
#elif defined POINTER
#define CALLED "pointed"
#else
#define CALLED "fatal"
#endif
__asm__(".text\n.globl fails\n.type fails,@function\nfails:\n.cfi_startproc\nsub $24,%rsp\n.cfi_def_cfa_offset 32\ncall " CALLED
        "\n.cfi_endproc\n.size fails,.-fails\n.type next,@function\nnext:\n.cfi_startproc\nlea 1(%rdi),%rax\nret\n.cfi_endproc\n"
        ".size next,.-next\n");

static void handler(int number) {
    volatile char room[200];
    room[1] = number;
    fails();
    room[2] = 1;
}
NOINLINE int deep(int n) {
    volatile char room[300];
    room[n & 255] = n;
    if (n > 6)
        *(volatile int *)8 = 1;
    return deep(n + 1) + room[n & 255];
}
int main(int count, char **words) {
    (void)words;
    signal(SIGSEGV, handler);
    return deep(count);
}
