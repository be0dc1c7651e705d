"""Functions to which nothing refers, or jumps alone, in programs without symbols and unwind tables.

What nobody calls is in no list of call targets; where the compiler aligned nothing, nothing stands
between it and the function before it.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from compilers.build import Corpus, build
from compilers.found import systems_own
from oracles import objdump_table
from oracles.tools import environment

from acceptance.helpers.scoreboard import Scoreboard
from acceptance.symbol_tables.start_scores import Score, bare_twin, functions_of, score
from whocall.base.native_module import native

NO_TABLES = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#define KEEP __attribute__((noinline))
volatile int one = 1;
KEEP int entered_by_jump(int n) { printf("%d\n", n); return n * one; }
KEEP int jumps(int n) { printf("%d\n", n); return entered_by_jump(n + 1); }
KEEP int jumps_too(int n) { if (n == one) return one; return entered_by_jump(n - 1); }
int unused_user(int n) { return one + printf("%d\n", n) * n; }
KEEP __attribute__((noreturn)) void fail(int n) { one += n; exit(n); }
int unused_behind_call(int n) { if (one) fail(n + 2); fail(n); }
int unused_pointer(int *n) { return *n + one; }
int unused_loop(int *p, int n) {
  int s = one;
  while (n-- > one) { s += p[n]; if (s == 7) continue; s ^= n; }
  return s;
}
int unused_last(int *n) { return n[one] + one * n[2]; }
int main(int argc, char **argv) {
  (void)argv;
  if (argc > 99) fail(argc);
  return jumps(argc) + jumps_too(argc);
}
"""
FUNCTIONS = ("entered_by_jump", "jumps", "jumps_too", "unused_user", "unused_behind_call", "fail",
             "unused_pointer", "unused_loop", "unused_last", "main")  # fmt: skip

KINDS = {
    "gcc -O2": ["gcc", "-O2"],
    "gcc -O3": ["gcc", "-O3"],
    "gcc -O0": ["gcc", "-O0"],
    "gcc -Os": ["gcc", "-Os"],
    "gcc -Os -m32": ["gcc", "-Os", "-m32", "-mregparm=0"],
    "gcc -O2 -m32 no-pie": ["gcc", "-O2", "-m32", "-no-pie", "-fno-pie"],
    "gcc -O2 -fstack-protector-all": ["gcc", "-O2", "-fstack-protector-all", "-fcf-protection"],
    "clang -O0 -m32": ["clang", "-O0", "-m32"],
    "clang -O2": ["clang", "-O2"],
    "musl -Os": ["musl-gcc", "-Os", "-static"],
    "mold, zeros between sections": ["gcc", "-O2", "-ffunction-sections", "-fuse-ld=mold"],
}


def built(command: list[str], folder: Path, source: str = SOURCE) -> Path:
    """The program with its symbols."""
    program = folder / "program.elf"
    (folder / "t.c").write_text(source)
    subprocess.run([*command, *NO_TABLES, "-w", "-o", str(program), str(folder / "t.c")],
                   check=True, env=environment())  # fmt: skip
    return program


def names_in(program: Path) -> dict[str, int]:
    """Where each function of the source begins."""
    return {
        each.name: each.address
        for each in objdump_table.symbols(program)
        if each.is_function and each.name in FUNCTIONS
    }


MOST_MISSED = 3
"""Of ten: what stands behind a call that nothing shows never to return, and what only jumps enter
where nothing is aligned.
"""


def check(program: Path, bare: Path) -> None:
    """Nearly all functions of the source are there, and nothing inside them."""
    truth, named = functions_of(program)
    names = names_in(program)
    found = {each[0]: each[5] for each in native.functions(str(bare))}
    missing = [name for name, start in names.items() if start not in found]
    false = [
        (hex(start), witness)
        for start, witness in found.items()
        if start not in named and any(at <= start < truth[at] for at in names.values())
    ]
    assert not false
    assert len(missing) <= MOST_MISSED, missing


@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_calls_is_found(kind: str, tmp_path: Path) -> None:
    program = built(KINDS[kind], tmp_path)
    check(program, bare_twin(program, tmp_path))


@pytest.mark.parametrize("level", ["-O2", "-Os"])
def test_without_section_headers(level: str, tmp_path: Path) -> None:
    program = built(["gcc", level, "-static"], tmp_path)
    bare = bare_twin(program, tmp_path)
    data = bytearray(bare.read_bytes())
    data[0x28:0x30] = bytes(8)  # e_shoff
    data[0x3C:0x40] = bytes(4)  # e_shnum, e_shstrndx
    bare.write_bytes(data)
    check(program, bare)


def test_random_bytes_between_functions(tmp_path: Path) -> None:
    """What fills the gaps is never taken for a function, and hides none that is called."""
    program = built(["gcc", "-O2"], tmp_path)
    bare = bare_twin(program, tmp_path)
    truth, named = functions_of(program)
    data = bytearray(bare.read_bytes())
    chance = random.Random(1)
    starts = sorted(truth)
    for start, following in zip(starts, starts[1:]):
        end = truth[start]  # .text of a PIE lies in the file where it is linked at
        if following - end < 16:  # else more than padding lies there
            data[end:following] = bytes(chance.randrange(256) for _ in range(following - end))
    bare.write_bytes(data)
    found = {each[0] for each in native.functions(str(bare))}
    false = [hex(at) for at in found - named if any(s <= at < truth[s] for s in starts)]
    assert not false
    names = names_in(program)
    assert {names["main"], names["jumps_too"]} <= found


def test_levels_of_optimization(tmp_path: Path, scoreboard: Scoreboard) -> None:
    """Programs of many shapes by this system's compilers, with their tables and without."""
    table = scoreboard.table(
        "Function starts by level of optimization, percent",
        *("compiler", "functions", "with tables", "true", "without", "true"),
    )
    bare_total, total = Score(), Score()
    for compiler in systems_own()[:2]:
        for machine in ([], ["-m32"]):
            for level in ("-O0", "-O1", "-O2", "-O3", "-Os"):
                flags = (level, *machine)
                place = tmp_path / f"{compiler.name}{''.join(flags)}"
                place.mkdir()
                twin = build(compiler, flags, Corpus(2, 2, False), place / "twin")
                stripped = place / "stripped"
                subprocess.run(["strip", "-o", str(stripped), str(twin)], check=True,
                               env=environment())  # fmt: skip
                whole, bare = score(twin, stripped), score(twin, bare_twin(twin, place))
                total.add(whole)
                bare_total.add(bare)
                table.rows.append((f"{compiler.name} {' '.join(flags)}", whole.functions,
                                   whole.recall, whole.precision, bare.recall,
                                   bare.precision))  # fmt: skip
    assert total.recall >= 99.8 and total.precision >= 99.9, total.false
    assert bare_total.recall >= 98.0 and bare_total.precision >= 99.4, bare_total.false
