"""Twenty-five programs for each cause of a crash and as many that come near it: five sources in
five builds, and in four of other kinds.

Each core is looked at whole, without the files of its process, and as minidumps that keep less:
what is told may become less then, never another thing. `python3 -m causes.many_causes` does all.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from acceptance.inputs.made_minidumps import Form, made
from artifact_cache import compilers, kept, machine
from corpus.crash import crash

from causes.near_misses import CXX_FUNCTIONS, CXX_HEAD, EXCEPTIONS, FUNCTIONS, MISSES
from causes.programs import happened
from whocall.base.file_search import Search
from whocall.triage.examine import examine
from whocall.triage.facts import Facts

BUILDS = ("gcc -O0", "gcc -O2", "gcc -O1 -fno-omit-frame-pointer", "clang -O1", "clang -O2")
MORE_BUILDS = ("gcc -m32 -O0", "gcc -m32 -O2", "clang -m32 -O1", "gcc -O1 -static")
_ALL_BUILDS = (*BUILDS, *MORE_BUILDS)
_FLAGS = ("-w", "-U_FORTIFY_SOURCE", "-fno-stack-protector", "-fcf-protection=none")
_HEAD = """
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define FAR __attribute__((noinline))
struct row { char pad[40]; struct row *next; void (*call)(void); int value; };
static volatile int one = 1;
static void *volatile nothing;
static FAR void touched(void *p) { __asm__ volatile("" :: "r"(p) : "memory"); }
"""

# By cause: the kinds of facts that are true of it, the true classes, and five bodies of main().
CAUSES: dict[str, tuple[set[str], set[str], tuple[str, ...]]] = {
    "null-read": ({"null-access"}, {"SourceAvNearNull"}, (
        "return *(volatile int *)nothing;",
        "return ((volatile struct row *)nothing)->value;",
        "volatile struct row r = {0}; return r.next->value;",
        "volatile double *d = nothing; return (int)d[one + 4];",
        "volatile char *c = nothing; while (*c) c += one; return 1;",
    )),
    "null-write": ({"null-access"}, {"DestAvNearNull"}, (
        "*(volatile int *)nothing = 7;",
        "((volatile struct row *)nothing)->value = one;",
        "volatile char *c = nothing; c[one * 100] = 1;",
        "memset(nothing, one, 64 * one);",
        "volatile double *d = nothing; d[one] = one * 0.5;",
    )),
    "null-call": ({"null-call", "wild-jump"}, {"SegFaultOnPcNearNull"}, (
        "((void (*)(void))nothing)(); touched(0);",
        "volatile struct row r = {0}; r.call(); touched(0);",
        "int (*volatile f)(int) = nothing; return f(3) + one;",
        "struct row *r = calloc(1, sizeof *r); touched(r); r->call(); touched(r);",
        "void (*f)(void) = (void (*)(void))((uintptr_t)nothing + 16 * one); f(); touched(0);",
    )),
    "wild-call": ({"wild-call", "wild-jump"}, {"SegFaultOnPc"}, (
        "((void (*)(void))((uintptr_t)nothing + 0x10000000))(); touched(0);",
        "static char data[64]; memset(data, 0x90, 64); touched(data);"
        " ((void (*)(void))data)(); touched(0);",
        "char *p = malloc(64); memset(p, 0x90, 64); touched(p); ((void (*)(void))p)(); touched(p);",
        "char local[64]; memset(local, 0x90, 64); touched(local);"
        " ((void (*)(void))local)(); touched(local);",
        "void (*volatile f)(void) = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
        " f(); touched(0);",
    )),
    "wild-read": ({"fault"}, {"SourceAv"}, (
        "return *(volatile int *)((uintptr_t)nothing + 0x10000000);",
        "volatile int *p = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
        " return p[one];",
        "char *p = mmap(0, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
        " munmap(p, 8192); return ((volatile char *)p)[5];",
        "return *(volatile short *)(0xdead00000000beefULL + (uintptr_t)nothing);",
        "volatile long *p = (long *)((char *)nothing + 0x200000000); return p[one] == p[2];",
    )),
    "wild-write": ({"fault"}, {"DestAv"}, (
        "*(volatile int *)((uintptr_t)nothing + 0x10000000) = 1;",
        "*(volatile char *)((uintptr_t)\"constant\" + (uintptr_t)nothing) = 1;",
        "volatile int *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
        " p[one] = 2;",
        "*(volatile long *)(0xdead00000000beefULL + (uintptr_t)nothing) = 1;",
        "memset((char *)nothing + 0x200000000, 1, 64 * one);",
    )),
    "division": ({"fault"}, {"FPE"}, (
        "return 7 / (one - 1);",
        "return (int)(1234567890123L % (long)(one - 1));",
        "unsigned zero = one - 1; return 9u / zero;",
        "volatile int least = -2147483647 - one; return least / -one;",
        "volatile unsigned char small = one - 1; return 200 / small;",
    )),
    "abort": ({"abort", "sent"}, {"AbortSignal"}, (
        "abort();",
        "if (one) { touched(0); abort(); }",
        "signal(SIGABRT, SIG_DFL); abort();",
        "struct row r; touched(&r); r.call = abort; r.call(); touched(&r);",
        "atexit(abort); exit(0);",
    )),
    "assertion": ({"assertion", "abort", "sent"}, {"AbortSignal"}, (
        "assert(one > 10);",
        "assert(nothing != 0 && \"a pointer\"); touched(0);",
        "for (int i = 0; i < 9; i++) assert(i != 5);",
        "struct row r = {0}; touched(&r); assert(r.next != NULL); return r.value;",
        "assert(strcmp(\"a\", \"b\" + (one - 1)) == 0);",
    )),
    "heap": ({"abort-message", "abort", "sent"}, {"HeapError", "AbortSignal"}, (
        "char *p = malloc(100); touched(p); free(p); free(p);",
        "char local[64]; touched(local); free(local + 16 * one); touched(local);",
        "long *p = malloc(24); touched(p); p[-1] = 0x13; touched(p); free(p);",
        "char *p = malloc(2000), *q = malloc(2000); touched(p); memset(p, 0x41, 2032);"
        " touched(q); free(q);",
        "void *p = malloc(64); touched(p); free(p); ((long *)p)[1] = 0; touched(p); free(p);"
        " free(p); free((char *)p + 8);",
    )),
    "trap": ({"trap"}, {"BadInstruction"}, (
        "__builtin_trap();",
        "__asm__ volatile(\"ud2\");",
        "if (one) __builtin_trap(); touched(0);",
        "touched(0); __asm__ volatile(\"nop; ud2; nop\");",
        "for (int i = 0;; i++) if (i == one * 3) __builtin_trap();",
    )),
    "breakpoint": ({"trap"}, {"TrapSignal"}, (
        "__asm__ volatile(\"int3\");",
        "touched(0); __asm__ volatile(\"int3; nop\"); touched(0);",
        "if (one) __asm__ volatile(\"int3\"); touched(0);",
        "for (int i = 0;; i++) if (i == one) { __asm__ volatile(\"int3\"); }",
        "__asm__ volatile(\"nop; int3; ud2\");",
    )),
    "overflow": ({"stack-overflow", "fault"}, {"StackOverflow"}, (
        "return (int)down(one);",
        "return (int)wide(one);",
        "return (int)even(one);",
        "volatile char big[64 << 20]; big[0] = 1; touched((void *)big); return big[one];",
        "return (int)copied((struct big){{one}});",
    )),
    "smashed": ({"smashed-return", "wild-jump"}, {"ReturnAv", "SegFaultOnPc"}, (
        "fill(0x41, 64);",
        "fill(0x7f, 96);",
        "put((void *)0x4141414141414141);",
        "put((void *)0x10000000);",
        "static char data[32]; put(data);",
    )),
    "sent": ({"sent"}, {"Undefined"}, (
        "raise(SIGSEGV);",
        "kill(getpid(), SIGBUS); for (;;) pause();",
        "if (fork() == 0) { kill(getppid(), SIGSEGV); _exit(0); } for (;;) pause();",
        "raise(SIGFPE);",
        "if (fork() == 0) { kill(getppid(), SIGILL); _exit(0); } for (;;) pause();",
    )),
}  # fmt: skip

_FUNCTIONS = """
FAR long down(long n) { volatile long held[100]; held[0] = n; return down(n + 1) + held[0]; }
FAR long wide(long n) { volatile char held[9000]; held[n & 7] = 1; return wide(n + 1) + held[0]; }
FAR long odd(long n);
FAR long even(long n) { volatile long held[30]; held[1] = n; return odd(n + 1) + held[1]; }
FAR long odd(long n) { volatile long held[20]; held[1] = n; return even(n + 1) + held[1]; }
struct big { long values[64]; };
FAR long copied(struct big b) { b.values[1]++; touched(&b); return copied(b) + b.values[1]; }
FAR void fill(int byte, int size) { char b[16]; memset(b, byte, size); touched(b); }
FAR void put(void *where) {
  void *volatile *slot = (void *volatile *)__builtin_frame_address(0) + 1;
  *slot = where;
}
"""


ROWS = {**CAUSES, **MISSES, **EXCEPTIONS}


@dataclass(frozen=True)
class Program:
    """One of a cause's sources in one of its builds."""

    cause: str
    source: int
    build: int

    @property
    def word(self) -> str:
        return f"{self.cause.replace(' ', '-')}-{self.source}-{self.build}"

    @property
    def is_cxx(self) -> bool:
        return self.cause in EXCEPTIONS

    @property
    def command(self) -> list[str]:
        """What compiles it, and how."""
        compiler, *flags = _ALL_BUILDS[self.build].split()
        if self.is_cxx:
            compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
        flags += _FLAGS
        if self.cause == "stack-smashing":
            flags.append("-fstack-protector-all")
        if "put(" in self.body or self.cause == "smashed":  # behind the saved frame pointer
            flags.append("-fno-omit-frame-pointer")
        return [compiler, *flags]

    @property
    def body(self) -> str:
        """Of main()."""
        return ROWS[self.cause][2][self.source]

    @property
    def text(self) -> str:
        """Its source."""
        head, functions = _HEAD, _FUNCTIONS + FUNCTIONS
        if self.is_cxx:
            head, functions = _HEAD + CXX_HEAD, functions + CXX_FUNCTIONS
        text = f"{head}{functions}int main(void) {{ {self.body} return 0; }}\n"
        return _narrowed(text) if "-m32" in self.command else text


def _narrowed(text: str) -> str:
    """With addresses that i386 has."""
    text = text.replace("0xdead00000000beefULL", "0xdead0000").replace("0x200000000", "0x20000000")
    return text.replace("0x4141414141414141", "0x41414141").replace("123456789012", "123456")


def programs() -> Iterator[Program]:
    """All."""
    for cause, (_, _, bodies) in ROWS.items():
        for source in range(len(bodies)):
            for build in range(len(_ALL_BUILDS)):
                yield Program(cause, source, build)


def some_programs(cause: str) -> list[Program]:
    """Each source, and each build for x86-64 or, of what comes near a cause, one of all."""
    shift, builds = (0, len(BUILDS)) if cause in CAUSES else (len(cause), len(_ALL_BUILDS))
    return [Program(cause, source, (source + shift) % builds) for source in range(5)]


def _made(program: Program, place: Path) -> Path:
    folder = place / program.word
    folder.mkdir()
    exe = folder / "prog"
    source = folder / ("prog.cc" if program.is_cxx else "prog.c")
    source.write_text(program.text)
    subprocess.run([*program.command, "-pthread", "-o", exe, source], check=True)
    found = crash(exe, folder, stack=1 << 20)
    shutil.copy(found.core, folder / "core")
    return folder


def core_of(program: Program) -> Path:
    """The folder with `core` and `prog`; made once on a machine."""
    command = program.command
    recipe = (program.word, program.text, command, compilers(command[0]), machine())
    return kept(recipe, lambda at: _made(program, at))


# What a writer keeps of the process.
FORMS = {
    "Breakpad of old": Form(flags=False),
    "Breakpad": Form(),
    "Crashpad": Form(maps=False),
    "without code": Form(code=False, flags=False),
    "without maps": Form(maps=False, flags=False),
}


def complaints(program: Program, dumps: Collection[str] = tuple(FORMS)) -> list[str]:
    """What is told of it and is not so, of its core and in these forms."""
    folder = core_of(program)
    kinds, classes, _ = ROWS[program.cause]
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        forms = {"core": folder / "core"}
        for name in dumps if program.build < len(BUILDS) else ():
            forms[name] = made(folder / "core", Path(scratch) / f"{name}.dmp", FORMS[name])
        nowhere = Path(scratch) / "nowhere"
        nowhere.mkdir()
        for name, path in forms.items():
            for search in (Search(), Search(sysroot=str(nowhere))):
                where = f"{program.word}, {name}{', no files' if search.sysroot else ''}"
                told = happened(path, search)["facts"]
                whole = name == "core" and not search.sysroot
                if (not told and whole) or {fact["kind"] for fact in told} - kinds:
                    found.append(f"{where}: {[(fact['kind'], fact['text']) for fact in told]}")
                if any(not fact["proof"] for fact in told):
                    found.append(f"{where}: a fact without a proof")
                kind = examine(str(path), search, Facts(None))["kind"]
                unknown = ("Undefined", "AccessViolation")
                lesser = () if whole else unknown
                if kind not in classes and kind not in lesser:
                    found.append(f"{where}: {kind}")
    return found


def main() -> None:
    """All of them, and what is not so."""
    count = 0
    wrong = []
    for program in programs():
        if len(sys.argv) > 1 and not program.word.startswith(sys.argv[1]):
            continue
        count += 1
        said = complaints(program)
        wrong += said
        print(program.word, *said, sep="\n  ", flush=True)
    print(f"{count} programs, {len(wrong)} complaints")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
