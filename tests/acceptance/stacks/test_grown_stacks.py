"""Stacks that code makes for itself: what the tables lead through, the code leads through as well.

Programs of -fsplit-stack, whose functions call the rest of themselves on a new piece of stack;
fibers as Boost.Context begins them, whose first address stands behind a jump; and the copy of its
caller's stack that the dynamic linker makes for who watches calls (LD_AUDIT).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.build import run
from corpus.crash import crash

from acceptance.helpers import chains
from acceptance.helpers.twin_crashes import build
from whocall.base.process_image import Walk

NO_CFI = Walk(past_main=True, lines=False, demangle=False, without=("cfi",))

SPLIT = r"""
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int leaf(int n) {
  volatile char b[3000];
  memset((void *)b, n, sizeof b);
  if (n == 0) *(volatile int *)8 = 1;
  return b[n];
}
__attribute__((noinline)) int deep(int n) {
  volatile char b[9000];
  memset((void *)b, n, sizeof b);
  int r = n ? deep(n - 1) : leaf(n);
  return r + b[n];
}
int main(int c, char **v) { return deep(30) + c; }
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("bits", [["-m32"], ["-m64"]], ids=["i386", "x86_64"])
def test_split_stacks(bits: list[str], level: str, tmp_path: Path) -> None:
    """Each function stands there once, not once more at the return behind its call for a stack. How
    many stacks there are hangs on the processor: each has room for its registers.
    """
    (tmp_path / "program.c").write_text(SPLIT, encoding="utf-8")
    exe = tmp_path / "program"
    run(["gcc", "-w", *bits, level, "-fsplit-stack", "program.c", "-o", str(exe)], tmp_path)
    core = crash(exe, tmp_path).core
    (true,) = chains.of_core(core, exe).values()
    names = [frame.function for frame in true.frames]
    assert {frame.trust for frame in true.frames} == {"context", "cfi"}, chains.listing(true)
    assert names.count("deep") == 31 > names.count("__morestack") > 5, chains.listing(true)
    run(["strip", str(exe)], tmp_path)
    (found,) = chains.of_core(core, exe, NO_CFI).values()
    assert chains.pcs(found) == chains.pcs(true), chains.listing(found)
    assert {frame.trust for frame in found.frames} == {"context", "analysis"}, chains.listing(found)


FIBER = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void *begin(void *stack, void (*f)(void));
void enter(void *fiber);
__asm__(".text\n.globl begin\n.type begin,@function\nbegin:\n"
        "mov %rdi,%rax\nlea -0x28(%rax),%rax\nmov %rsi,(%rax)\n"
        "lea 1f(%rip),%rcx\nmov %rcx,0x10(%rax)\nlea 2f(%rip),%rcx\nmov %rcx,0x8(%rax)\nret\n"
        "1: push %rbp\njmp *JUMP\n"
        "2: xor %rdi,%rdi\ncall _exit\nhlt\n.size begin,.-begin\n"
        ".globl enter\n.type enter,@function\nenter:\n"
        "push %rbp\npush %rbx\nmov %rdi,%rsp\npop JUMP\npop %rbp\nret\n.size enter,.-enter\n");
__attribute__((noinline)) int inside(int n) {
  char b[40];
  memset(b, n, sizeof b);
  if (n == 3) *(volatile int *)8 = 1;
  return b[n] + n;
}
__attribute__((noinline)) void fiber(void) { _exit(inside(3) + 1); }
int main(int c, char **v) {
  enter(begin((char *)malloc(65536) + 65536, fiber));
  return c;
}
"""


@pytest.mark.parametrize("jump", ["%rbx", "%r12"])
@pytest.mark.parametrize("level", ["-O1", "-O2"])
def test_fibers(level: str, jump: str, tmp_path: Path) -> None:
    """The last frame is the code that ends the program, behind a jump, and nothing beyond it."""
    built = build(FIBER.replace("JUMP", jump), tmp_path, [level, "-fomit-frame-pointer"])
    trace = built.trace(NO_CFI)
    listing = chains.listing(trace)
    assert built.named(trace) == ["inside", "fiber", "begin"], listing
    assert trace.stop.reason == "end-of-stack", listing
    assert {frame.trust for frame in trace.frames} == {"context", "analysis"}, listing


AUDIT = r"""
#define _GNU_SOURCE
#include <link.h>
#define ENTER (Elf64_Sym *s, unsigned n, uintptr_t *r, uintptr_t *d, La_x86_64_regs *regs, \
               unsigned *f, const char *name, long *size)
unsigned la_version(unsigned version) { return version; }
unsigned la_objopen(struct link_map *m, Lmid_t l, uintptr_t *cookie) {
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
Elf64_Addr la_x86_64_gnu_pltenter ENTER { *size = COPIED; return s->st_value; }
unsigned la_x86_64_gnu_pltexit(Elf64_Sym *s, unsigned n, uintptr_t *r, uintptr_t *d,
                               const La_x86_64_regs *in, La_x86_64_retval *out, const char *name) {
  return 0;
}
"""
WATCHED = r"""
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int compare(const void *a, const void *b) {
  volatile char x[40];
  memset((void *)x, 1, sizeof x);
  if (*(int *)a == 3) *(volatile int *)8 = 1;
  return *(int *)a - *(int *)b + x[1] - x[2];
}
__attribute__((noinline)) int sorted(int n) {
  int v[8] = {5, 4, 7, 3, 1, 2, 9, 8};
  qsort(v, 8, sizeof *v, compare);
  return v[n & 7];
}
__attribute__((noinline)) int outer(int n) {
  volatile char b[50];
  b[3] = n;
  return sorted(n) + b[3];
}
int main(int c, char **v) { return outer(c) + 1; }
"""


@pytest.mark.parametrize("copied", [256, 1024, 2048])
def test_copied_stacks(copied: int, tmp_path: Path) -> None:
    """The frames of the copy stand there once: the dynamic linker was jumped to, not called."""
    (tmp_path / "audit.c").write_text(AUDIT.replace("COPIED", str(copied)), encoding="utf-8")
    (tmp_path / "program.c").write_text(WATCHED, encoding="utf-8")
    audit, exe = tmp_path / "audit.so", tmp_path / "program"
    run(["gcc", "-w", "-O2", "-fPIC", "-shared", "audit.c", "-o", str(audit)], tmp_path)
    run(["gcc", "-w", "-O2", "-Wl,-z,lazy", "program.c", "-o", str(exe)], tmp_path)
    core = crash(exe, tmp_path, variables={"LD_AUDIT": str(audit)}).core
    (true,) = chains.of_core(core, exe).values()
    names = [frame.function or "" for frame in true.frames]
    assert any(name.startswith("_dl_runtime_profile") for name in names), chains.listing(true)
    run(["strip", str(exe)], tmp_path)
    (found,) = chains.of_core(core, exe, NO_CFI).values()
    assert chains.pcs(found) == chains.pcs(true), chains.listing(found)
    assert {frame.trust for frame in found.frames} == {"context", "analysis"}, chains.listing(found)


DYING = "unsigned la_version(unsigned version) { *(volatile int *)8 = 1; return version; }"


@pytest.mark.parametrize("bits", ["-m64", "-m32"])
def test_in_the_dynamic_linker(bits: str, tmp_path: Path) -> None:
    """Its entry point ends the stack, by whatever link the program knows its file."""
    (tmp_path / "audit.c").write_text(DYING, encoding="utf-8")
    (tmp_path / "program.c").write_text("int main(void) { return 0; }", encoding="utf-8")
    audit, exe = tmp_path / "audit.so", tmp_path / "program"
    run(["gcc", bits, "-w", "-fPIC", "-shared", "audit.c", "-o", str(audit)], tmp_path)
    run(["gcc", bits, "program.c", "-o", str(exe)], tmp_path)
    core = crash(exe, tmp_path, variables={"LD_AUDIT": str(audit)}).core
    for walk in (None, NO_CFI):
        (found,) = chains.of_core(core, exe, *([walk] if walk else [])).values()
        assert found.frames[0].function == "la_version", chains.listing(found)
        assert found.stop.reason == "end-of-stack", chains.listing(found)
