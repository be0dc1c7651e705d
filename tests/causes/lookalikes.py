"""Programs that end in ways that look like another: what a hasty reader would say is not true."""

from __future__ import annotations

_GUARDED = """
    #define _GNU_SOURCE
    #include <pthread.h>
    static void *run(void *unused) {
        pthread_attr_t a; void *base; size_t size;
        pthread_getattr_np(pthread_self(), &a);
        pthread_attr_getstack(&a, &base, &size);
        *((volatile char *)base - 8) = 1;  /* an index far below an array: the stack is not full */
        return 0;
    }
    int main(void) {
        pthread_attr_t a; pthread_t t;
        pthread_attr_init(&a);
        pthread_attr_setstacksize(&a, 32768);
        pthread_create(&t, &a, run, 0);
        pthread_join(t, 0);
    }"""

_SURVIVED = """
    #include <assert.h>
    #include <setjmp.h>
    #include <signal.h>
    #include <stdlib.h>
    #include <unistd.h>
    static sigjmp_buf place;
    static void back(int n) { siglongjmp(place, 1); }
    int main(int c, char **v) {
        signal(SIGABRT, back);
        if (!sigsetjmp(place, 1)) assert(c > 10);
        signal(SIGABRT, SIG_DFL);
        %s
    }"""

SOURCES = {
    "index-into-guard": _GUARDED,
    "abort-after-assertion": _SURVIVED % "abort();",
    "killed-after-assertion": _SURVIVED
    % "if (fork() == 0) { kill(getppid(), SIGABRT); _exit(0); } for (;;) pause();",
    "huge-frame": """
        int main(void) { volatile char big[64 << 20]; big[0] = 1; return big[0]; }""",
    "overflow-with-handler": """
        #include <signal.h>
        static void handle(int n) { _Exit(1); }
        __attribute__((noipa)) int down(int n) {
            volatile int held[128];
            held[0] = n;
            return down(n + 1) + held[0];
        }
        int main(int c, char **v) { signal(SIGSEGV, handle); return down(c); }""",
    "zeroed-return": """
        #include <string.h>
        __attribute__((noipa)) void clear(int size) {
            char b[16]; memset(b, 0, size); __asm__ volatile("" :: "r"(b) : "memory"); }
        int main(void) { clear(48); }""",
    "jump-on-to-null": """
        __attribute__((noipa, optimize("O2"))) int jump(int (*f)(void)) { return f(); }
        int main(void) { int (*volatile call)(int (*)(void)) = jump; return call(0) + 1; }""",
    "jump-on-from-stack": """
        __attribute__((noipa, optimize("O2"))) int jump(int (*f)(void)) { return f(); }
        int main(void) {
            __asm__ volatile("sub $24, %%rsp; movq $0, (%%rsp); movq %0, 8(%%rsp);"
                             "xor %%edi, %%edi; call *8(%%rsp)" :: "r"(jump));
        }""",
    "null-call-from-stack": """
        __attribute__((noipa)) int other(void) { return 1; }
        int main(void) {
            __asm__ volatile("sub $24, %%rsp; movq %0, (%%rsp); movq $0, 8(%%rsp); call *8(%%rsp)"
                             :: "r"(other));
        }""",
    "call-of-data": """
        static char data[64];
        __attribute__((noipa)) int call(int (*f)(void)) { return f() + 1; }
        int main(void) { return call((int (*)(void))data); }""",
    "not-aligned": """
        int main(void) {
            static char data[64] __attribute__((aligned(16)));
            __asm__ volatile("movaps (%0), %%xmm0" :: "r"(data + 4) : "xmm0");
        }""",
    "alignment-check": """
        int main(void) {
            static char data[64] __attribute__((aligned(16)));
            __asm__ volatile("pushfq; orl $0x40000, (%%rsp); popfq; movl (%0), %%eax"
                             :: "r"(data + 1) : "eax", "cc");
        }""",
    "quotient-without-room": """
        __attribute__((noipa)) int part(int a, int b) { return a / b; }
        int main(int c, char **v) { return part(-2147483647 - c, -c); }""",
    "file-cut-short": """
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int main(void) {
            char name[] = "cut-short-XXXXXX";
            int file = mkstemp(name);
            unlink(name);
            ftruncate(file, 4096);
            volatile char *data = mmap(0, 4096, PROT_READ, MAP_SHARED, file, 0);
            ftruncate(file, 0);
            return data[8];
        }""",
    "breakpoint": """
        int main(void) { __asm__ volatile("int3; ud2"); }""",
    "wrong-pointer": """
        __attribute__((noipa)) int get(int *p) { return *p; }
        int main(void) { return get((int *)0xdead00000000beef); }""",
    "kernels-instruction": """
        int main(void) { __asm__ volatile("hlt"); }""",
    "sent-to-itself": """
        #include <signal.h>
        int main(void) { raise(SIGSEGV); }""",
}

# Of each: the kind of the first fact, what its text says, and what the core does not prove.
EXPECTED = {
    "index-into-guard": ("fault", "it was writing 1 byte at 0x", "overflow"),
    "abort-after-assertion": ("abort", "abort() was called", "assertion"),
    "killed-after-assertion": ("sent", "sent the signal", "assertion"),
    "huge-frame": ("stack-overflow", "; main takes 6", "accessed"),
    "overflow-with-handler": ("stack-overflow", "a recursion of down", "no pointer"),
    "zeroed-return": ("wild-jump", "control went to address 0, by a pointer", "null function"),
    "jump-on-to-null": ("wild-jump", "address 0, by a pointer", "called"),
    "jump-on-from-stack": ("wild-jump", "address 0, by a pointer", "called"),
    "null-call-from-stack": ("null-call", "called address 0, a null function pointer", "control"),
    "call-of-data": ("wild-call", "(rw-), which is not executable", "no code is"),
    "not-aligned": ("fault", "not a multiple of 16", "no pointer"),
    "alignment-check": ("fault", "the address is not aligned", "null"),
    "quotient-without-room": ("fault", "a division by 0xffffffff has no room", "zero"),
    "file-cut-short": ("fault", "there is no memory behind the address", "null"),
    "breakpoint": ("trap", "it ran into `int3`", "ud2"),
    "wrong-pointer": (
        "fault",
        "was reading 4 bytes at 0xdead00000000beef, which no pointer",
        "aligned",
    ),
    "kernels-instruction": ("fault", "`hlt` faulted; the kernel tells no address", "accessed"),
    "sent-to-itself": ("sent", "the program sent SIGSEGV to itself", "accessed"),
}
