/* A stack that is started by hand, with the address of a function that never returns as its first word: &abort, as libcoro does,
 * _exit (EXIT), a function of its own right behind a `call abort` (OWN), with a zero above it (ZERO) or the same once more. The
 * stack is static, or lies in the frame of main (FRAME) under the true frames of another one. */
#include "disturb.h"
#include <unistd.h>

int *volatile null;
void own_end(void);
#if defined __x86_64__
#define START "mov %0,%%rsp; jmp *%1"
__asm__(".text\n.type before,@function\nbefore:\n.cfi_startproc\nsub $8,%rsp\n.cfi_def_cfa_offset 16\ncall abort@PLT\n.cfi_endproc\n"
        ".size before,.-before\n.globl own_end\n.type own_end,@function\nown_end:\n.cfi_startproc\nand $-16,%rsp\ncall abort@PLT\n"
        ".cfi_endproc\n.size own_end,.-own_end\n");
#elif defined __i386__
#define START "mov %0,%%esp; jmp *%1"
#else
#define START "mov sp,%0; ldr x30,[sp],#16; br %1"
#endif
#if defined EXIT
#define END _exit
#elif defined OWN
#define END own_end
#else
#define END abort
#endif

NOINLINE void crash(void) { *null = 1; }
NOINLINE void body(void) {
    crash();
    if (write(1, "", 0) < 0)
        abort();
}
#ifndef FRAME
static char stack[65536] __attribute__((aligned(16)));
#endif
int main(void) {
#ifdef FRAME
    char stack[65536] __attribute__((aligned(16)));
#endif
    void **sp = (void **)(stack + sizeof stack - 64);
    memset(sp - 64, 0, 64 * sizeof *sp);
#if defined __aarch64__
    *--sp = (void *)END;
    *--sp = (void *)END;
#else
#ifdef ZERO
    *--sp = 0;
#else
    *--sp = (void *)END;
#endif
    *--sp = (void *)END;
#endif
    __asm__ volatile(START ::"r"(sp), "r"(body));
    return 0;
}
