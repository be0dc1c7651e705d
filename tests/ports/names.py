"""A program whose functions say their names, for each instruction set, beside its twin."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from acceptance.names.true_names import Verdict, judge, truth_of
from artifact_cache import Tool, kept

from ports.sets import SETS
from whocall.base.file_search import Search

PROGRAM = r"""
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#define KEEP static __attribute__((noinline, noclone))
static volatile int other;
KEEP int first(int x) { assert(x != 1); return getenv("A") ? x : x + 1; }
KEEP int second(int x) {
  assert(x != 2);
  switch (x) {
    case 3: puts("three"); break;
    case 4: printf("%d\n", first(other)); break;
    case 5: puts("five"); break;
    case 6: abort();
    case 7: return first(other + 1);
    case 8: fputs("eight", stderr); break;
  }
  return x * 3;
}
KEEP int by_pointer(int x) { assert(x != 3); return second(x) + 1; }
static int (*volatile where)(int) = by_pointer;
int main(int count, char **words) { return where(count) + words[0][0]; }
"""
LINKS = {"pie": ("-fPIE", "-pie"), "nopie": ("-fno-pie", "-no-pie"), "static": ("-static",)}


def named(name: str, link: str, *signatures: Path) -> tuple[Path, Verdict]:
    """The program of one set, stripped, and what its names come to."""
    one = SETS[name]
    compiler = f"{one.triple}-gcc"
    flags = (*one.flags, "-O2", *LINKS[link])

    def make(place: Path) -> tuple[Path, Path]:
        source, twin, exe = place / "names.c", place / "names.twin", place / "names"
        source.write_text(PROGRAM)
        subprocess.run([compiler, *flags, str(source), "-o", str(twin)], check=True)
        shutil.copy(twin, exe)
        subprocess.run([f"{one.triple}-strip", "--strip-all", str(exe)], check=True)
        return twin, exe

    search = Search(sysroot=one.sysroot, signature_files=[str(each) for each in signatures])
    twin, exe = kept(("port's names", PROGRAM, flags, Tool(compiler)), make)
    return twin, judge(exe, truth_of(twin), search)
