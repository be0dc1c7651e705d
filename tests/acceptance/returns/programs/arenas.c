/* Stacks that are carved out of one piece of memory: by mmap, in .bss (BSS) or in main's own frame (FRAME). The function that
 * switches keeps the old stack pointer in rbp, in rbx (BY_RBX) or on the new stack (BY_WORD).
 * DISTURBED names the stacks to run on, one after the other; who comes again to one goes on below. */
#include "disturb.h"
#include <sys/mman.h>

#define SIZE (256 * 1024)
#define PART 2048
#define MOST 5

long call_on_stack(long (*function)(long), long given, void *stack);
#ifdef NO_TABLES
#define CFI(...)
#else
#define CFI(...) #__VA_ARGS__ "\n"
#endif
#define SWITCH(body) \
    __asm__(".text\n.globl call_on_stack\n.type call_on_stack,%function\ncall_on_stack:\n" CFI(.cfi_startproc) body \
            CFI(.cfi_endproc) ".size call_on_stack,.-call_on_stack\n");
#if defined __aarch64__
SWITCH("stp x29,x30,[sp,#-16]!\n" CFI(.cfi_def_cfa_offset 16) CFI(.cfi_offset 29,-16) CFI(.cfi_offset 30,-8) "mov x29,sp\n"
       CFI(.cfi_def_cfa_register 29) "mov sp,x2\nmov x9,x0\nmov x0,x1\nblr x9\nmov sp,x29\nldp x29,x30,[sp],#16\n"
       CFI(.cfi_def_cfa 31,0) CFI(.cfi_restore 29) CFI(.cfi_restore 30) "ret\n")
#elif defined __i386__
SWITCH("push %ebp\n" CFI(.cfi_def_cfa_offset 8) CFI(.cfi_offset ebp,-8) "mov %esp,%ebp\n" CFI(.cfi_def_cfa_register ebp)
       "mov 12(%ebp),%eax\nmov 8(%ebp),%ecx\nmov 16(%ebp),%esp\nsub $12,%esp\npush %eax\ncall *%ecx\nmov %ebp,%esp\npop %ebp\n"
       CFI(.cfi_def_cfa esp,4) "ret\n")
#elif defined BY_RBX
SWITCH("push %rbx\n" CFI(.cfi_def_cfa_offset 16) CFI(.cfi_offset rbx,-16) "mov %rsp,%rbx\n" CFI(.cfi_def_cfa_register rbx)
       "mov %rdx,%rsp\nmov %rdi,%rax\nmov %rsi,%rdi\ncall *%rax\nmov %rbx,%rsp\npop %rbx\n" CFI(.cfi_def_cfa rsp,8) "ret\n")
#elif defined BY_WORD /* CFA: *rsp + 8 */
SWITCH("mov %rsp,%rax\nmov %rdx,%rsp\npush %rax\npush %rax\n" CFI(.cfi_escape 0x0f,5,0x77,0,0x06,0x23,8)
       "mov %rdi,%rax\nmov %rsi,%rdi\ncall *%rax\npop %rcx\npop %rsp\n" CFI(.cfi_def_cfa rsp,8) "ret\n")
#else
SWITCH("push %rbp\n" CFI(.cfi_def_cfa_offset 16) CFI(.cfi_offset rbp,-16) "mov %rsp,%rbp\n" CFI(.cfi_def_cfa_register rbp)
       "mov %rdx,%rsp\nmov %rdi,%rax\nmov %rsi,%rdi\ncall *%rax\nmov %rbp,%rsp\npop %rbp\n" CFI(.cfi_def_cfa rsp,8) "ret\n")
#endif

static char *arena;
static const char *order;
static int visits[MOST];
int *volatile null;

NOINLINE void crash(void) { *null = 1; }
NOINLINE long hop(long n) {
    if (!order[n]) {
        crash();
        return 1;
    }
    int at = order[n] - '0';
    char *top = arena + (at + 1) * SIZE - PART * visits[at]++;
    return call_on_stack(hop, n + 1, top) + 1;
}
#ifdef BSS
static char reserved[MOST * SIZE] __attribute__((aligned(16)));
#endif
int main(void) {
    order = disturbed();
#if defined BSS
    arena = reserved;
#elif defined FRAME
    char room[MOST * SIZE] __attribute__((aligned(16)));
    room[0] = room[sizeof room - 1] = 0;
    arena = room;
#else
    arena = mmap(0, MOST * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif
    return (int)hop(0) + arena[0];
}
