"""Programs of one instruction each that faults, and what it did: read, write, or run.

With TELL in its environment a program says what the kernel's own word of the fault is, by the
error code that x86 gives: that is the oracle.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

from corpus.crash import ENVIRONMENT

from causes.programs import compiled


class Case(NamedTuple):
    """`bad` is in {di}, good memory in {si}; `at` is the fault's distance from `bad`."""

    code: str
    does: str | None
    size: int | None
    at: int = 0
    bad: str = (
        "guard"  # "guard": nothing is allowed, "text": it may be read, "edge": its last bytes
    )


# Of x86-64 and i386.
BOTH = {
    "load": Case("movl 8({di}), %eax", "read", 4, 8),
    "byte": Case("movsbl 1({di}), %eax", "read", 1, 1),
    "store": Case("movw $1, 2({di})", "write", 2, 2),
    "store to text": Case("movl $1, ({di})", "write", 4, 0, "text"),
    "change": Case("lock addl $1, 16({di})", "read-write", 4, 16),
    "change of text": Case("incl 4({di})", "write", 4, 4, "text"),
    "exchange": Case("xchgl %eax, ({di})", "read-write", 4),
    "compare": Case("cmpl $5, ({di})", "read", 4),
    "compare and exchange": Case("cmpxchg %ecx, ({di})", "read-write", 4),
    "test": Case("testb $1, 3({di})", "read", 1, 3),
    "divide": Case("divl ({di})", "read", 4),
    "set": Case("sete ({di})", "write", 1),
    "shift": Case("shll $3, ({di})", "read-write", 4),
    "bit by number": Case("btsl $3, ({di})", "read-write", 4),
    "float": Case("fldt ({di})", "read", 10),
    "float store": Case("fldz; fstpl ({di})", "write", 8),
    "vector load": Case("movups 32({di}), %xmm0", "read", 16, 32),
    "vector store": Case("movaps %xmm0, 64({di})", "write", 16, 64),
    "half a vector": Case("movhps %xmm0, ({di})", "write", 8),
    "past the edge": Case("movl ({di}), %eax", "read", 4, 2, "edge"),
    "stored past the edge": Case("movl %eax, ({di})", "write", 4, 2, "edge"),
    "push of it": Case("push ({di})", "read", 0),
    "call of it": Case("call *({di})", "read", 0),
    "jump by it": Case("jmp *({di})", "read", 0),
    "push": Case("mov {di}, {sp}; push {ax}", "write", 0, -1, "above"),
    "call": Case("lea 4096({di}), {sp}; call 1f; 1: nop", "write", 0, -1),
    "call below good": Case("mov {di}, {sp}; call 1f; 1: nop", "write", 0, -1, "above"),
    "pop": Case("mov {di}, {sp}; pop {ax}", "read", 0),
    "return": Case("mov {di}, {sp}; ret", "read", 0),
    "leave": Case("mov {di}, {bp}; leave", "read", 0),
    "jump": Case("jmp *{di}", "execute", None),
    "jump to data": Case("jmp *{si}", "execute", None, 0, "good"),
    "copied from": Case("xchg {si}, {di}; mov $4000, %ecx; rep movsb", "read", None),
    "copied to": Case("mov $4000, %ecx; rep movsb", "write", None),
    "copied from and to": Case("mov $9000, %ecx; rep movsb", None, None),
    "copied down": Case("std; lea 8({di}), {di}; mov $900, %ecx; rep movsb", "write", None, 8),
    "one copied": Case("movsl", "write", 4),
    "filled": Case("mov $9000, %ecx; xor %eax, %eax; rep stosl", "write", None),
    "searched": Case("mov $9000, %ecx; mov $77, %eax; repne scasb", "read", None),
    "compared to": Case("mov $9000, %ecx; repe cmpsb", "read", None),
    "copied to the edge": Case("sub $100, {di}; mov $900, %ecx; rep movsb", "write", None, 2,
                               "edge"),
    "filled past the edge": Case("sub $101, {di}; mov $900, %ecx; rep stosb", "write", None, 2,
                                 "edge"),
    "both at once": Case("mov {di}, {si}; movsb", None, None),
    "by a segment": Case("mov %{seg}:0, {ax}; sub {ax}, {di}; mov %{seg}:({di}), %eax",
                         "read", None),
    "stored by a segment": Case("mov %{seg}:0, {ax}; sub {ax}, {di}; mov %eax, %{seg}:({di})",
                                "write", None),
}  # fmt: skip
WIDE = {
    "vector of 32": Case("vmovdqu %ymm0, ({di})", "write", 32),
    "vector from 32": Case("vmovdqu ({di}), %ymm0", "read", 32),
    "half an address": Case("movl 4(%edi), %eax", "read", 4, 4),
    "16 bytes": Case("lock cmpxchg16b ({di})", "read-write", 16),
    "gathered": Case("vpcmpeqd %xmm2, %xmm2, %xmm2; vpxor %xmm1, %xmm1, %xmm1;"
                     " vpgatherdd %xmm2, ({di},%xmm1), %xmm0", "read", None),
}  # fmt: skip
NARROW = {"all pushed": Case("mov {di}, {sp}; pusha", "write", 0, -1, "above")}

_NAMES = {
    64: {"di": "%rdi", "si": "%rsi", "sp": "%rsp", "bp": "%rbp", "ax": "%rax", "seg": "fs"},
    32: {"di": "%edi", "si": "%esi", "sp": "%esp", "bp": "%ebp", "ax": "%eax", "seg": "gs"},
}  # fmt: skip
GUARD, EDGE = 0x10004000, 2
PLACES = {
    "guard": GUARD, "above": GUARD + 4096, "text": GUARD + 0x8000, "edge": GUARD - EDGE,
    "good": GUARD - 4096,
}  # fmt: skip

_MAIN = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ucontext.h>
#include <unistd.h>
extern void (*const cases[])(char *bad, char *good);
static void tell(int number, siginfo_t *info, void *context) {
  const gregset_t *regs = &((ucontext_t *)context)->uc_mcontext.gregs;
  dprintf(1, "%ld %lx\n", (long)(*regs)[REG_ERR], (long)info->si_addr);
  _exit(0);
}
static char *map(unsigned long at, long size, int how) {
  return mmap((void *)at, size, how, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
int main(void) {
  static char other[65536];
  if (getenv("TELL")) {
    stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction action = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&stack, 0);
    sigaction(SIGSEGV, &action, 0);
  }
  map(GUARD - 0x4000, 0x4000, PROT_READ | PROT_WRITE);
  map(GUARD, 4096, PROT_NONE);
  map(GUARD + 4096, 4096, PROT_READ | PROT_WRITE);
  map(GUARD + 0x8000, 4096, PROT_READ);
  cases[atoi(getenv("HOW"))]((char *)strtoul(getenv("BAD"), 0, 16), (char *)GUARD - 4096);
  return 0;
}
"""


def cases_of(bits: int) -> dict[str, Case]:
    """Of x86 with so many."""
    return {**BOTH, **(WIDE if bits == 64 else NARROW)}


def made(bits: int, place: Path) -> Path:
    """The program of all cases."""
    found = cases_of(bits)
    text = ['__asm__(".text\\n"']
    for number, case in enumerate(found.values()):
        load = "" if bits == 64 else "mov 4(%esp), %edi; mov 8(%esp), %esi; "
        body = case.code.format(**_NAMES[bits])
        text.append(f'".type case{number},@function\\ncase{number}: {load}{body}\\nret\\n"')
        text.append(f'".size case{number},.-case{number}\\n"')
    text.append(");")
    text += [f"extern void case{number}(char *, char *);" for number in range(len(found))]
    names = ", ".join(f"case{number}" for number in range(len(found)))
    text.append(f"void (*const cases[])(char *, char *) = {{{names}}};")
    flags = ("-m32",) if bits == 32 else ()
    source = f"#define GUARD {GUARD:#x}UL\n{_MAIN}" + "\n".join(text)
    return compiled(source, place / f"faults-{bits}", *flags)


def variables(bits: int, name: str) -> dict[str, str]:
    """Of the environment in which the program does it."""
    found = cases_of(bits)
    bad = PLACES[found[name].bad]
    return {"HOW": str(list(found).index(name)), "BAD": f"{bad:x}"}


def kernels_word(exe: Path, bits: int, name: str) -> tuple[str, int]:
    """What the processor says the access was, and the address."""
    environment = {**ENVIRONMENT, **variables(bits, name), "TELL": "1"}
    said = subprocess.run([exe], env=environment, capture_output=True, text=True, check=True)
    code, address = said.stdout.split()
    does = "execute" if int(code) & 16 else "write" if int(code) & 2 else "read"
    return does, int(address, 16)
