"""Programs that end in ways which a hasty reader takes for another: the causes that are true of
them, and no other may be told. For each cause, five sources that come near it.

As in many_causes.py: the kinds of facts, the classes, and bodies of main().
"""

from __future__ import annotations

_AV = {"SourceAv", "SourceAvNearNull"}
_WRITTEN = {"DestAv", "DestAvNearNull"}
_PC = {"SegFaultOnPc", "SegFaultOnPcNearNull"}
_CAUGHT = (
    "struct sigaction a = {0}; a.sa_handler = back; a.sa_flags = SA_NODEFER;"
    " sigaction(SIGABRT, &a, 0); if (!sigsetjmp(place, 1)) { %s } signal(SIGABRT, SIG_DFL); %s"
)
_BY_ANOTHER = "if (fork() == 0) { kill(getppid(), %s); _exit(0); } for (;;) pause();"

MISSES: dict[str, tuple[set[str], set[str], tuple[str, ...]]] = {
    "near null-access": ({"fault"}, _AV | _WRITTEN, (
        "return ((volatile char *)nothing)[4096 * one];",
        "return ((volatile char *)nothing)[-8 * one];",
        "*(volatile char *)((uintptr_t)nothing + 0x1000) = 1;",
        "struct { char pad[70000]; int value; } volatile *p = nothing; p->value = one;",
        "char *p = mmap((void *)0x10000, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
        " return ((volatile char *)p)[one];",
    )),
    "near null-call": ({"wild-jump"}, _PC, (
        "hop(0);",
        "__asm__ volatile(JUMP_TO_ZERO);",
        "fill(0, 48);",
        "put(0);",
        "int (*volatile f)(long) = hop; return f(0) + one;",
    )),
    "near wild-call": ({"wild-jump", "smashed-return", "fault"}, _PC, (
        "hop(0x10000000);",
        "static char data[64]; touched(data); hop((long)data);",
        "char *p = malloc(64); touched(p); put(p);",
        "put((void *)0x20000000);",
        "int (*volatile f)(long) = hop; return f(0x10000000) + one;",
    )),
    "near wild-jump": ({"fault", "null-access"},
                       _AV | _WRITTEN | {"BadInstruction", "AccessViolation"}, (
        "char *p = page(PROT_READ | PROT_WRITE | PROT_EXEC); p[0] = 6; p[1] = 6; p[2] = 0xff;"
        " p[3] = 0xff; touched(p); ((void (*)(void))p)(); touched(p);",
        "char *p = page(PROT_READ | PROT_WRITE | PROT_EXEC);"
        " memcpy(p, \"\\x31\\xc0\\x8a\\x00\\xc3\", 5); touched(p); ((void (*)(void))p)();"
        " touched(p);",
        "int (*volatile f)(const char *) = (int (*)(const char *))strlen; return f(nothing);",
        "void *(*volatile f)(void *, int, size_t) = memset; f((char *)main, 1, 64 * one);",
        "char *p = page(PROT_READ | PROT_WRITE | PROT_EXEC);"
        " memcpy(p, \"\\x31\\xc0\\xc6\\x00\\x01\\xc3\", 6); touched(p); ((void (*)(void))p)();"
        " touched(p);",
    )),
    "near smashed-return": ({"wild-jump", "wild-call"}, _PC, (
        "hop(0x41414140);",
        "((void (*)(void))((uintptr_t)nothing + 0x41414140))(); touched(0);",
        "jmp_buf b; if (setjmp(b)) return 1; touched(b); hop(0x42424240);",
        "char text[] = \"AAAAAAAAAAAAAAAAAAAAAAA\"; touched(text); hop(0x41414140);",
        "int (*volatile f)(long) = hop; return f(0x41414140) + one;",
    )),
    "near stack-overflow": ({"fault"}, _AV | _WRITTEN | {"AccessViolation"}, (
        "*((volatile char *)below()) = 1;",
        "return *((volatile char *)below());",
        "on_thread(1);",
        "on_thread(0);",
        "volatile char *p = (char *)below() - 4096 * one; p[0] = 1; touched((void *)p);",
    )),
    "near trap": ({"sent", "fault"}, {"Undefined", "BadInstruction"}, (
        "raise(SIGILL);",
        "raise(SIGTRAP);",
        _BY_ANOTHER % "SIGTRAP",
        "__asm__ volatile(\".byte 0x0f, 0x36, 0xff\");",
        "__asm__ volatile(\"mov $0xcccccccc, %%ecx\" ::: \"ecx\"); kill(getpid(), SIGTRAP);"
        " for (;;) pause();",
    )),
    "near fault": ({"sent"}, {"Undefined"}, (
        "touched(0); raise(SIGBUS);",
        "volatile int *p = nothing; touched((void *)p); raise(SIGSEGV);",
        _BY_ANOTHER % "SIGFPE",
        "union sigval v = {0}; sigqueue(getpid(), SIGSEGV, v); for (;;) pause();",
        "pthread_kill(pthread_self(), SIGBUS); touched(0);",
    )),
    "near abort": ({"sent"}, {"Undefined", "AbortSignal"}, (
        "raise(SIGABRT);",
        "kill(getpid(), SIGABRT); for (;;) pause();",
        _BY_ANOTHER % "SIGABRT",
        "pthread_kill(pthread_self(), SIGABRT); touched(0);",
        "if (!one) abort(); raise(SIGABRT);",
    )),
    "near assertion": ({"abort", "sent"}, {"AbortSignal", "Undefined"}, (
        _CAUGHT % ("assert(one > 10);", "abort();"),
        _CAUGHT % ("assert(one > 10);", "raise(SIGABRT);"),
        _CAUGHT % ("assert(one > 10);", _BY_ANOTHER % "SIGABRT"),
        "fputs(\"prog: prog.c:1: main: Assertion `one' failed.\\n\", stderr); abort();",
        "char *p = strdup(\"prog: main: Assertion `one' failed.\"); touched(p); abort();",
    )),
    "near abort-message": ({"abort", "sent"}, {"AbortSignal", "Undefined"}, (
        _CAUGHT % ("char *p = malloc(100); touched(p); free(p); free(p);", "abort();"),
        _CAUGHT % ("char *p = malloc(100); touched(p); free(p); free(p);", "raise(SIGABRT);"),
        "fputs(\"free(): double free detected in tcache 2\\n\", stderr); abort();",
        "fputs(\"*** stack smashing detected ***: terminated\\n\", stderr); abort();",
        "char *p = strdup(\"malloc(): corrupted top size\"); touched(p); abort();",
    )),
    "near sent": ({"abort", "trap", "null-access", "fault"},
                  {"AbortSignal", "BadInstruction", "FPE", *_AV}, (
        "kill(getpid(), SIGCONT); abort();",
        "signal(SIGUSR1, nowhere); raise(SIGUSR1); __builtin_trap();",
        "signal(SIGSEGV, once); return *(volatile int *)nothing;",
        "signal(SIGFPE, once); return 7 / (one - 1);",
        "signal(SIGILL, once); __builtin_trap();",
    )),
    "stack-smashing": ({"stack-smashing", "abort", "sent"}, {"StackGuard", "AbortSignal"}, (
        "char b[16]; memset(b, 0x41, 64 * one); touched(b);",
        "char b[16]; touched(b); for (int i = 0; i < 40 * one; i++) b[i] = i; touched(b);",
        "char b[8]; strcpy(b, one ? \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\" : \"\"); touched(b);",
        "fill(0x42, 48);",
        "fill(0, 64);",
    )),
    "near stack-smashing": ({"assertion", "abort", "abort-message"},
                            {"AbortSignal", "HeapError", "SafeFunctionCheck"}, (
        "assert(!one && \"*** stack smashing detected ***\");",
        "fputs(\"*** stack smashing detected ***: terminated\\n\", stderr); abort();",
        "char *p = strdup(\"*** stack smashing detected ***: terminated\"); touched(p); free(p);"
        " free(p);",
        "char *p = malloc(16), *q = malloc(16); touched(p); memset(p, 0x41, 32); touched(q);"
        " free(q); free(p); abort();",
        "extern void __chk_fail(void); __chk_fail();",
    )),
}  # fmt: skip

EXCEPTIONS: dict[str, tuple[set[str], set[str], tuple[str, ...]]] = {
    "exception": ({"exception"}, {"AbortSignal"}, (
        "throw std::runtime_error(\"rows\");",
        "if (one) throw 5;",
        "std::vector<int> v(3); return v.at(7 * one);",
        "try { throw 1; } catch (const char *) { return 3; }",
        "throws(one);",
    )),
    "near exception": ({"abort", "assertion"}, {"AbortSignal"}, (
        "try { throws(one); } catch (...) { touched(0); } abort();",
        "try { throws(one); } catch (int) { abort(); }",
        "assert(one > 10);",
        "struct once { ~once() { abort(); } } held; touched(&held); return one;",
        "try { throws(one); } catch (int n) { assert(n > 10); }",
    )),
}  # fmt: skip

CXX_HEAD = """
#include <stdexcept>
#include <vector>
"""
CXX_FUNCTIONS = """
FAR void throws(int n) { if (n) throw n; touched(0); }
"""
FUNCTIONS = """
#include <setjmp.h>
#include <errno.h>
static sigjmp_buf place;
static void back(int n) { siglongjmp(place, 1); }
static void nowhere(int n) { touched(0); }
static void once(int n) { signal(n, SIG_DFL); }
#ifdef __x86_64__
#define JUMP_TO_ZERO "xor %ecx, %ecx; jmp *%rcx"
#define HOP "mov %rdi, %rcx; jmp *%rcx"
#else
#define JUMP_TO_ZERO "xor %ecx, %ecx; jmp *%ecx"
#define HOP "mov 4(%esp), %ecx; jmp *%ecx"
#endif
__asm__(".text\\n.globl hop\\n.type hop,@function\\nhop: " HOP "\\n.size hop,.-hop");
#ifdef __cplusplus
extern "C"
#endif
int hop(long where);
static char *page(int how) {
  return (char *)mmap(0, 4096, how, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
/* Right below the memory that the stack has, or may grow into. */
FAR void *below(void) {
  pthread_attr_t a; void *base; size_t size;
  pthread_getattr_np(pthread_self(), &a);
  pthread_attr_getstack(&a, &base, &size);
  return (char *)base - 4096;
}
static void *run(void *write) {
  volatile char *p = (char *)below() + 4096 - 8;
  if (write) *p = 1;
  return (void *)(long)*p;
}
FAR void on_thread(int write) {
  pthread_attr_t a; pthread_t t;
  pthread_attr_init(&a);
  pthread_attr_setstacksize(&a, 65536);
  pthread_create(&t, &a, run, write ? &t : 0);
  pthread_join(t, 0);
}
"""
