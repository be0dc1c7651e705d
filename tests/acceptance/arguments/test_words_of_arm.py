"""What is special about arguments on ARM: pairs of words, gaps before them, va_list as a pointer,
calls that hang on a condition, pointers to code in T32.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from artifact_cache import Tool, compilers, kept, sources
from corpus.crash import ENVIRONMENT, set_limits
from ports.sets import SETS

import whocall
from acceptance.arguments.emulated import STACK, core_of
from acceptance.arguments.truth import ran
from whocall import Search, backtrace_text

SOURCE = r"""
#include <stdarg.h>
#include <stdlib.h>
#define APART __attribute__((noipa))
volatile int sink;
APART void last(int *p, int a, int b) { sink = a; *p = b; sink = a + b; }
APART int when(int a, int b, int c) { sink = b; if (a == c) last(0, a, b); return a + 1; }
APART int unless(int a, int b, int c) { if (a != c) { when(b, 5, b); } return sink; }
APART int wide(int a, long long b, int c, long long d) {
  sink = a + c; unless(a, (int)b, c); return (int)(b >> 32) + (int)(d >> 32) + (int)d; }
APART int some(int a, ...) {
  va_list list; va_start(list, a); int n = va_arg(list, int); va_end(list);
  sink = n; return wide(a, 0x123456789LL, 4, -2LL) + sink; }
APART static int jumped_to(int a, int b, int c) { return some(c, 45, b) + a; }
APART static int jumping(int a, int b) { if (a > 100) return 3; return jumped_to(b, 77, a); }
APART static int by_pointer(const void *a, const void *b) {
  return *(int *)a == 3 ? jumping(55, 1234) + sink : *(int *)a - *(int *)b; }
int main(void) {
  if (sink == 5) return jumped_to(1, 2, 3);
  int v[5] = {3, 3, 3, 3, 3}; qsort(v, 5, 4, by_pointer); return v[0]; }
"""
WORDS = [
    "(0, 0x23456789, 5)",
    "(0x23456789, 5, 0x23456789)",
    "(55, 0x23456789, 4)",
    "(55, ?, 0x23456789, 1, 4, ?, -2, -1)",
    "(55, 45, ...)",
    "(1234, 77, 55)",
]
"""Of the functions from the innermost one on."""


def _made(place: Path, name: str, level: str) -> tuple[Path, Path]:
    of = SETS[name]
    (place / "program.c").write_text(SOURCE)
    ran(f"{of.triple}-gcc", *of.flags, level, "-s", "program.c", "-o", "program", cwd=place)
    command = [of.qemu, "-L", of.sysroot, "./program"]
    subprocess.run(
        command,
        cwd=place,
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
        preexec_fn=lambda: set_limits(stack=STACK, dumped=0),
    )
    return core_of(place), place / "program"


def _lines(name: str, level: str) -> list[str]:
    of = SETS[name]
    recipe = (
        SOURCE,
        name,
        level,
        compilers(f"{of.triple}-gcc"),
        sources(Path(__file__).parent),
        [Tool(of.qemu), Tool(f"{of.triple}-ld")],
    )
    core, program = kept(recipe, lambda place: _made(place, name, level))
    with whocall.open_core(str(core), str(program), search=Search(sysroot=of.sysroot)) as image:
        return backtrace_text(image.report()).splitlines()


@pytest.mark.parametrize(
    ("name", "level"), [("arm", "-O1"), ("arm", "-O2"), ("thumb", "-O1"), ("thumb", "-O2")]
)
def test_words(name: str, level: str) -> None:
    lines = [line for line in _lines(name, level) if line.startswith("#")]
    told = [re.sub(r".* in \w+ (\(.*\)) \+.*", r"\1", line) for line in lines[: len(WORDS)]]
    # By gcc 12 nobody calls it, so that its start is not known, nor what it takes.
    if level == "-O2" and re.search(r" in \w+ \(\+", told[-1]):
        told.pop()
    assert told == WORDS[: len(told)]
    if name == "thumb":  # what was handed over has its name, whatever bit 0 says
        (sort,) = (line for line in lines if " in qsort_r " in line)
        assert re.search(r"0x[0-9a-f]+ <sub_[0-9a-f]+>, 0\)", sort)
