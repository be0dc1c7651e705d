/* Hand-written assembly without any unwind table stands between functions of C.
 *
 * SHAPE  of the assembly, see the functions `hand_*` below
 */
#include "truth.h"

#ifdef __x86_64__
#define A "rax"
#define B "rbx"
#define BP "rbp"
#define SP "rsp"
#define WORD "8"
#define SPARE "r12"
#define PUSH_ALL                                                                                     \
    "push %rax; push %rcx; push %rdx; push %rbx; push %rbp; push %rsi; push %rdi; push %r8;"         \
    "push %r9; push %r10; push %r11; push %r12; push %r13; push %r14; push %r15; pushf;"
#define POP_ALL                                                                                      \
    "popf; pop %r15; pop %r14; pop %r13; pop %r12; pop %r11; pop %r10; pop %r9; pop %r8;"            \
    "pop %rdi; pop %rsi; pop %rbp; pop %rbx; pop %rdx; pop %rcx; pop %rax;"
#define ADDRESS(symbol) "lea " symbol "(%rip), %rax;"
#else
#define A "eax"
#define B "ebx"
#define BP "ebp"
#define SP "esp"
#define WORD "4"
#define SPARE "edi"
#define PUSH_ALL "pusha; pushf;"
#define POP_ALL "popf; popa;"
#define ADDRESS(symbol) "call 1f; 1: pop %eax; add $" symbol "-1b, %eax;"
#endif

#define FUNCTION(name, body)                                                                         \
    __asm__(".text\n.p2align 4\n.type " name ",@function\n" name ":\n" body "\n.size " name ", .-" name "\n");

void hand_outer(void), hand_inner(void);
__attribute__((used)) void between(void), bottom(void);
__attribute__((used, aligned(16))) char other_stack[16384];

#if SHAPE == 0 /* pushes and frames of odd sizes, a direct and an indirect call */
FUNCTION("hand_outer", "push %" B "; sub $24, %" SP "; mov %" A ", 8(%" SP "); call hand_odd;"
                       "add $24, %" SP "; pop %" B "; ret")
FUNCTION("hand_odd", "push %" B "; push %" BP "; push %" SPARE "; sub $" WORD ", %" SP ";"
                     ADDRESS("between") "call *%" A ";"
                     "add $" WORD ", %" SP "; pop %" SPARE "; pop %" BP "; pop %" B "; ret")
FUNCTION("hand_inner", "sub $200, %" SP "; test %" A ", %" A "; jne 2f; nop; 2: call bottom; lea 200(%" SP "), %" SP "; ret")
#elif SHAPE == 1 /* a trampoline that saves all registers, as for a hook */
FUNCTION("hand_outer", PUSH_ALL "cld; call between;" POP_ALL "ret")
FUNCTION("hand_inner", "push $17; push %" A ";" PUSH_ALL "sub $40, %" SP ";" ADDRESS("bottom") "call *%" A ";"
                       "add $40, %" SP ";" POP_ALL "add $2*" WORD ", %" SP "; ret")
#elif SHAPE == 2 /* the frame pointer's register holds something else */
FUNCTION("hand_outer", "push %" BP "; mov $0x1234, %" BP "; sub $64, %" SP "; 3: call between; dec %" BP "; jne 3b;"
                       "add $64, %" SP "; pop %" BP "; ret")
FUNCTION("hand_inner", "push %" BP "; push %" B "; xor %" BP ", %" BP "; lea 32(%" SP "), %" BP "; sub $" WORD ", %" SP ";"
                       "call bottom; add $" WORD ", %" SP "; pop %" B "; pop %" BP "; ret")
#elif SHAPE == 3 /* the stack pointer is aligned, and kept in another register meanwhile */
FUNCTION("hand_outer", "push %" B "; mov %" SP ", %" B "; and $-64, %" SP "; sub $64, %" SP "; call between;"
                       "mov %" B ", %" SP "; pop %" B "; ret")
FUNCTION("hand_inner", "push %" B "; mov %" SP ", %" B "; and $-16, %" SP "; push %" B "; sub $3*" WORD ", %" SP "; call bottom;"
                       "mov %" B ", %" SP "; pop %" B "; ret")
#else /* the inner one moves to another stack */
FUNCTION("hand_outer", "push %" B "; sub $32, %" SP "; call between; add $32, %" SP "; pop %" B "; ret")
FUNCTION("hand_inner", "push %" B "; mov %" SP ", %" B ";" ADDRESS("other_stack") "lea 16384(%" A "), %" SP "; call bottom;"
                       "mov %" B ", %" SP "; pop %" B "; ret")
#endif

NOINLINE int fault(int x) {
    TRUTH_ENTER(fault);
    *truth_null = x;
    TRUTH_LEAVE();
    return x;
}

NOINLINE void bottom(void) {
    TRUTH_ENTER(bottom);
    truth_zero = fault(5) + 1;
    TRUTH_LEAVE();
}

NOINLINE int middle(int x) {
    TRUTH_ENTER(middle);
    hand_inner();
    TRUTH_LEAVE();
    return x;
}

NOINLINE void between(void) {
    TRUTH_ENTER(between);
    truth_zero = middle(6) + 1;
    TRUTH_LEAVE();
}

NOINLINE int work(int x) {
    TRUTH_ENTER(work);
    hand_outer();
    TRUTH_LEAVE();
    return x;
}

int main(int argc, char **argv) {
    TRUTH_ENTER(main);
    int y = work(argc) + 1;
    TRUTH_LEAVE();
    return y;
}
