/* Tools that want to see a function return replace its return address: uftrace, Frida's interceptor, the kernel's uretprobes.
 * EVERY: of each function, as uftrace does; TWICE: of one more that is on the stack, with nothing before the page; PAGE: by an address in a page of its own that nobody can read, as uretprobes do; ZEROS: the
 * same, and cores hold zeros of it;
 * MADE: by code made at run time, as Frida does; CALLED: as Frida does now, with a call before it that takes its return address off
 * the stack and goes on to the function; MOVED: so, of a function whose first call it has moved into its page; TABLED: the trampoline
 * has unwind tables. */
#include "disturb.h"
#include <pthread.h>
#include <sys/mman.h>

long saved[64];
int saved_count;
extern char tramp[];
int leaf(int);

__attribute__((used)) long pop_return(void) { return saved[--saved_count]; }

#ifdef TABLED
#define CFI(...) #__VA_ARGS__ "\n"
#else
#define CFI(...)
#endif
#define ASM_FUNCTION(body) \
    __asm__(".text\n.p2align 4\n.globl tramp\n.type tramp,%function\ntramp:\n" CFI(.cfi_startproc) body CFI(.cfi_endproc) \
            ".size tramp,.-tramp\n");
#if defined __x86_64__
ASM_FUNCTION("sub $8,%rsp\n" CFI(.cfi_adjust_cfa_offset 8) "push %rax\n" CFI(.cfi_adjust_cfa_offset 8)
             "call pop_return\nmov %rax,8(%rsp)\npop %rax\n" CFI(.cfi_adjust_cfa_offset -8) "ret\n")
#elif defined __i386__
ASM_FUNCTION("sub $4,%esp\n" CFI(.cfi_adjust_cfa_offset 4) "push %eax\n" CFI(.cfi_adjust_cfa_offset 4)
             "call pop_return\nmov %eax,4(%esp)\npop %eax\n" CFI(.cfi_adjust_cfa_offset -4) "ret\n")
#else
ASM_FUNCTION("stp x0,x1,[sp,#-16]!\n" CFI(.cfi_adjust_cfa_offset 16) "bl pop_return\nmov x30,x0\nldp x0,x1,[sp],#16\n"
             CFI(.cfi_adjust_cfa_offset -16) "ret\n")
#endif

static long trampoline(void) {
    static char *made;
    long address = (long)tramp;
#if defined PAGE || defined ZEROS || defined MADE || defined CALLED || defined MOVED
    if (!made) {
        made = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        made += 4096;
        memset(made, 0xcc, 4096);
#ifdef MADE
        memcpy(made + 64, "\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\x48\x83\xec\x08\x50\xff\x15\x0a\x00\x00\x00\x48\x89\x44\x24\x08\x58\xc3", 26);
        long (*pop)(void) = pop_return;
        memcpy(made + 64 + 29, &pop, sizeof pop);
        mprotect(made, 4096, PROT_READ | PROT_EXEC);
        mprotect(made - 4096, 4096, PROT_NONE);
#elif defined CALLED || defined MOVED
        memcpy(made + 64, "\x48\x8d\xa4\x24\x08\0\0\0\xff\xe0\x0f\x0b\xe8\xef\xff\xff\xff\xff\x35\xd9\xff\xff\xff\xff\x25\x02\0\0\0\x0f\x0b", 31);
#ifdef MOVED /* sub $8,%rsp; call leaf; add $8,%rsp; ret */
        memcpy(made + 128, "\x48\x83\xec\x08\xff\x15\x06\0\0\0\x48\x83\xc4\x08\xc3\xcc", 16);
        int (*moved)(int) = leaf;
        memcpy(made + 128 + 16, &moved, sizeof moved);
#endif
        mprotect(made, 4096, PROT_READ | PROT_EXEC);
#else
#ifdef TWICE
        munmap(made - 4096, 4096);
#else
        mprotect(made - 4096, 4096, PROT_NONE);
#endif
#ifdef ZEROS
        memset(made, 0, 4096);
#else
        madvise(made, 4096, MADV_DONTDUMP);
#endif
        mprotect(made, 4096, PROT_EXEC);
#endif
    }
    address = (long)made;
#ifdef MADE
    address += 64 + 8;
#elif defined CALLED || defined MOVED
    address += 64 + 17;
#endif
#endif
    return address;
}

static void replace(long volatile *slot) {
    if (disturbed()) {
        saved[saved_count++] = *slot;
        *slot = trampoline();
    }
}

#ifdef EVERY
#define REPLACE_ALL replace(RETURN_SLOT)
#else
#define REPLACE_ALL (void)0
#endif

NOINLINE int leaf(int n) {
#if defined PAGE || defined ZEROS || defined CALLED || defined MOVED /* nothing can return there */
    if (n == 3)
#endif
#ifdef MOVED
        replace(RETURN_SLOT + 2);
#else
        replace(RETURN_SLOT);
#endif
    if (n == 3)
        abort();
    return n;
}
NOINLINE int compare(const void *a, const void *b) {
    REPLACE_ALL;
#ifdef MOVED
    if (disturbed())
        return ((int (*)(int))(trampoline() - 64 - 17 + 128))(*(const int *)a) - *(const int *)b;
#endif
    return leaf(*(const int *)a) - *(const int *)b;
}
NOINLINE int sorted(int n) {
    int values[4] = {4, 3, n, 1};
    REPLACE_ALL;
#ifdef TWICE
    replace(RETURN_SLOT);
#endif
    qsort(values, 4, 4, compare);
    return values[0];
}
NOINLINE int deep(int n) {
    volatile char room[100];
    REPLACE_ALL;
    room[1] = n;
    return n ? deep(n - 1) + room[1] : sorted(8) + room[1];
}
NOINLINE void *thread(void *given) { return (char *)given + deep(5); }
int main(void) {
    pthread_t other;
    if (!disturbed() || !strchr(disturbed(), 't'))
        return deep(5);
    pthread_create(&other, 0, thread, 0);
    return pthread_join(other, 0);
}
