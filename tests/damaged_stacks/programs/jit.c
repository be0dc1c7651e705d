/* Machine code that no file holds, as a just-in-time compiler makes it: frames of it stand between frames of C.
 *
 * FRAME_POINTER  1: each function keeps one; 0: none does
 * PROTECTION     of the finished pages: PROT_READ | PROT_EXEC, or PROT_EXEC alone
 * PADDING        the byte between the functions
 * FAULT_IN_CODE  1: the innermost made function faults itself; 0: a C function that it calls
 */
#include <string.h>
#include <sys/mman.h>

#include "truth.h"

typedef void code(void);
enum call { DIRECT, REGISTER, MEMORY };

static unsigned char *at;
code *volatile callback;

static void bytes(const char *text, size_t size) {
    memcpy(at, text, size);
    at += size;
}

static void number(uintptr_t value, size_t size) {
    memcpy(at, &value, size);
    at += size;
}

#define EMIT(text) bytes(text, sizeof text - 1)
#ifdef __x86_64__
#define WIDE "\x48"
#else
#define WIDE ""
#endif

static void emit_call(code *target, enum call how) {
    if (how == DIRECT) { /* call target */
        EMIT("\xe8");
        number((uintptr_t)target - ((uintptr_t)at + 4), 4);
    } else if (how == REGISTER) { /* mov $target, %rax; call *%rax */
        EMIT(WIDE "\xb8");
        number((uintptr_t)target, sizeof target);
        EMIT("\xff\xd0");
    } else { /* mov $&callback, %rbx; call *(%rbx) */
        EMIT(WIDE "\xbb");
        number((uintptr_t)&callback, sizeof target);
        EMIT("\xff\x13");
    }
}

/* A function with `saved` pushed registers beside the frame pointer, and about `locals` bytes of locals. */
static code *emit(unsigned saved, unsigned locals, code *target, enum call how) {
    unsigned pushes = saved + FRAME_POINTER;
    while ((uintptr_t)at % 16)
        *at++ = PADDING;
    unsigned char *start = at;
    locals += (16 - ((pushes + 1) * sizeof(void *) + locals) % 16) % 16; /* aligned at the call */
    if (FRAME_POINTER)
        EMIT("\x55" WIDE "\x89\xe5"); /* push %rbp; mov %rsp, %rbp */
    for (unsigned i = 0; i < saved; i++)
        EMIT("\x53"); /* push %rbx */
    EMIT(WIDE "\x81\xec"); /* sub $locals, %rsp */
    number(locals, 4);
    if (target)
        emit_call(target, how);
    else
        EMIT("\x31\xc0\x89\x00"); /* xor %eax, %eax; mov %eax, (%rax) */
    EMIT(WIDE "\x81\xc4");        /* add $locals, %rsp */
    number(locals, 4);
    for (unsigned i = 0; i < saved; i++)
        EMIT("\x5b"); /* pop %rbx */
    if (FRAME_POINTER)
        EMIT("\x5d"); /* pop %rbp */
    EMIT("\xc3");
    return (code *)start;
}

NOINLINE void fault(void) {
    TRUTH_ENTER(fault);
    *truth_null = 1;
    TRUTH_LEAVE();
}

NOINLINE void bottom(void) {
    TRUTH_ENTER(bottom);
    fault();
    TRUTH_LEAVE();
}

static code *inner;

NOINLINE void between(void) {
    TRUTH_ENTER(between);
    inner();
    TRUTH_LEAVE();
}

NOINLINE void run(code *made) {
    TRUTH_ENTER(run);
    made();
    TRUTH_LEAVE();
}

int main(void) {
    TRUTH_ENTER(main);
    unsigned char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    at = pages + 64;
    callback = between;
    inner = FAULT_IN_CODE ? emit(1, 40, NULL, DIRECT) : emit(1, 40, bottom, REGISTER);
    inner = emit(2, 16, inner, DIRECT);
    code *made = emit(1, 104, callback, MEMORY);
    made = emit(3, 0, made, REGISTER);
    made = emit(0, 24, made, DIRECT);
    mprotect(pages, 8192, PROTECTION);
    run(made);
    TRUTH_LEAVE();
    return 0;
}
