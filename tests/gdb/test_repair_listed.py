"""A module that nobody has the file of, with a Breakpad symbol file in its place: a repair gives
gdb the names and rows of that.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from acceptance.name_files.breakpad_rows import symbol_file
from programs import build
from sessions import batch

SOURCE = """
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int fail(volatile int *at) { return *at + 1; }
__attribute__((noinline)) int deep(int n, volatile int *at) {
  char b[40];
  memset(b, n, sizeof b);
  return n > 0 ? deep(n - 1, at) + b[n] : fail(at) + b[1]; }
static int compare(const void *a, const void *b) { return deep(3, 0) + *(int *)a - *(int *)b; }
__attribute__((noinline)) int sorts(int n) {
  int v[4] = {4, 3, 2, n};
  qsort(v, 4, sizeof *v, compare);
  return v[0]; }
int main(int argc, char **argv) { return sorts(argc) + 1; }
"""
CHAIN = ["fail", *["deep"] * 4, "compare", "sorts", "main"]
FLAGS = "-O1 -fno-optimize-sibling-calls -fasynchronous-unwind-tables"


def functions(said: str) -> list[str]:
    """What gdb calls its frames."""
    lines = [line.split() for line in said.splitlines() if line.startswith("#")]
    named = [words[3] if words[1].startswith("0x") else words[1] for words in lines]
    return [name for name in named if name in CHAIN]


@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])
def test_names_and_rows_of_a_list(kind: str, tmp_path: Path) -> None:
    crash = build(tmp_path, "listed", SOURCE, f"{FLAGS} {kind}")
    low = 0x400000 if kind == "-no-pie" else 0
    listed = tmp_path / "listed.sym"
    listed.write_text(symbol_file(crash.twin, "listed", low=low))
    shutil.move(crash.exe, tmp_path / "elsewhere")
    own = batch([f"core {crash.core}", "bt"])
    assert functions(own.out) == [], own
    said = batch(
        [f"core {crash.core}", f"set whocall symbol-files {listed}", "whocall repair", "bt"]
    )
    assert functions(said.out) == CHAIN, said
