"""Parts that compilers moved out of their functions, and functions behind calls that do not return.

Without tables, with symbols and without: what a part is called makes no walk worse. The truth is
the walk by the tables of the same build.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from corpus.build import run
from corpus.crash import crash

from acceptance.helpers import chains
from whocall.base.process_image import Walk

NO_CFI = Walk(past_main=True, lines=False, demangle=False, without=("cfi",))

COLD = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile int zero, argument = ARGUMENT;
__attribute__((noinline, noclone)) static void leaf(int n) {
  volatile char b[30];
  memset((void *)b, n, sizeof b);
  if (n == WHERE) *(volatile int *)8 = 1;
}
__attribute__((cold, noinline)) static void report(const char *s, int n) {
  fprintf(stderr, "%s %d\n", s, n);
  leaf(1);
  if (n > 100) abort();
}
__attribute__((noinline)) static int check(int *p, int n) {
  int a[12];
  for (int i = 0; i < 12; i++) a[i] = p[i] * n;
  if (__builtin_expect(n < 0, 0)) { report("negative", a[n & 7]); abort(); }
  if (__builtin_expect(n > 1000, 0)) { leaf(2); report("big", a[n & 7] + n); abort(); }
  int s = 0;
  for (int i = 0; i < 12; i++) s += a[i];
  return s;
}
__attribute__((noinline)) static int many(int n, int *p) {
  char big[200];
  memset(big, n, sizeof big);
  int r = check(p, n);
  if (__builtin_expect(r == 12345, 0)) { report("many", r); leaf(4); abort(); }
  return r + big[n & 127];
}
static void handler(int s) { volatile char b[90]; b[s] = 1; leaf(5); abort(); }
__attribute__((noinline)) static void die(void) {
  volatile char b[20];
  b[1] = 2;
  if (!zero) abort();
}
static void after(int s) { volatile char b[200]; b[1] = s; leaf(6); die(); }
int main(int c, char **v) {
  int p[12];
  for (int i = 0; i < 12; i++) p[i] = c + i;
  if (HANDLED) {
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = HANDLED == 1 ? handler : after;
    sigaction(SIGSEGV, &sa, 0);
  }
  return many(argument, p);
}
"""
# Where it crashes, how it comes there, and what handles the signal.
KINDS = {"in-report": (1, -5, 0), "in-part": (2, 2000, 0), "aborts": (9, 2000, 0)}
KINDS |= {"handler": (1, 2000, 1), "behind-abort": (2, 2000, 2)}
COMPILERS = ["gcc -m64", "gcc -m32", "clang -m64", "clang -m32"]


@pytest.mark.parametrize(("kind", "compiler"), product(KINDS, COMPILERS))
@pytest.mark.parametrize("level", ["-O2", "-Os"])
def test_cold_parts(kind: str, compiler: str, level: str, tmp_path: Path) -> None:
    """With the parts in a row of their own, as -O2 and -Os put them."""
    where, argument, handled = KINDS[kind]
    (tmp_path / "program.c").write_text(COLD, encoding="utf-8")
    exe = tmp_path / "program"
    words = [f"-DWHERE={where}", f"-DARGUMENT={argument}", f"-DHANDLED={handled}"]
    flags = ["-w", level, "-fomit-frame-pointer", *words]
    run([*compiler.split(), *flags, "program.c", "-o", str(exe)], tmp_path)
    core = crash(exe, tmp_path).core
    (true,) = chains.of_core(core, exe).values()
    assert "many" in [frame.function for frame in true.frames], chains.listing(true)
    for command in ("true", "strip"):
        run([command, str(exe)], tmp_path)
        (found,) = chains.of_core(core, exe, NO_CFI).values()
        assert chains.pcs(found) == chains.pcs(true), chains.listing(found)
        assert "scan" not in {frame.trust for frame in found.frames}, chains.listing(found)
