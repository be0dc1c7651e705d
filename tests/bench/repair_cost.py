"""What it costs to make a stripped program's functions known to gdb, beside gdb's own reading.

    PYTHONPATH=gdbext:tests WHOCALL_BUILD_DIR=build/release python3 tests/bench/repair_cost.py

For programs with 100,000 functions, in milliseconds of processor time and of the clock, the median
of several rounds in which everything takes its turn:

- gdb's reading of the symbols of the unstripped twin: a fresh gdb with `file TWIN` less a fresh gdb
  without a file, its worker threads as it has them by default; the twin has no debug info, which
  would cost more;
- ours, the first time: the stripped file opened, functions found and named, the symbol file made
  and written to the cache, its path ready to be given to gdb; the second time, out of the cache;
- and what gdb then takes to load our file, which comes on top whoever made it.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from oracles.tools import environment

from whocall.base.native_module import native
from whocall.repair import symbol_cache
from whocall.repair.plan import AT_ONCE

FUNCTIONS = 100_000
NAMES: dict[str, Callable[[int], str]] = {
    "C": lambda number: f"function_with_number_{number:06}",
    "C++": lambda number: (
        f"_ZN7library7widgets10Controller13method_{number:06}"
        "ERKSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS7_EEPKcm"
    ),
}
START = """
.section .note.GNU-stack,"",@progbits
.text
.globl _start
.type _start, @function
_start:
    xor %ebp, %ebp
    call {first}
    hlt
.size _start, .-_start
"""
FUNCTION = """
.p2align 4
.type {name}, @function
{name}:
    .cfi_startproc
    push %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset %rbx, -16
    lea {number}(%rdi), %rbx
    call {next}
    lea (%rax,%rbx), %rax
    pop %rbx
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
.size {name}, .-{name}
"""


class Cost(NamedTuple):
    """Milliseconds."""

    cpu: float
    wall: float


class Program(NamedTuple):
    """A program with symbols, and the same without them."""

    kind: str
    twin: Path
    bare: Path


def _programs(folder: Path) -> list[Program]:
    """With and without unwind tables; each function calls the next, so that starts are seen."""
    made = []
    for language, name in NAMES.items():
        source = folder / f"{language}.s"
        text = [START.format(first=name(0))]
        text += [
            FUNCTION.format(name=name(i), next=name((i + 1) % FUNCTIONS), number=i)
            for i in range(FUNCTIONS)
        ]
        source.write_text("".join(text), encoding="ascii")
        twin = folder / f"{language}.twin"
        command = ["gcc", "-nostdlib", "-static-pie", "-Wl,--build-id,--eh-frame-hdr"]
        subprocess.run([*command, "-o", str(twin), str(source)], check=True, env=environment())
        for kind, drop in (("with tables", ()), ("without", (".eh_frame", ".eh_frame_hdr"))):
            bare = folder / f"{language}.{kind.replace(' ', '-')}"
            removed = [f"--remove-section={section}" for section in drop]
            subprocess.run(["strip", *removed, "-o", str(bare), str(twin)], check=True)
            made.append(Program(f"{language}, {kind}", twin, bare))
    return made


def _cost_of(who: int, act: Callable[[], object]) -> Cost:
    def spent() -> float:
        usage = resource.getrusage(who)
        return usage.ru_utime + usage.ru_stime

    cpu, wall = spent(), time.perf_counter()
    act()
    return Cost(1000 * (spent() - cpu), 1000 * (time.perf_counter() - wall))


def _gdb(*commands: str) -> Cost:
    words = [word for command in commands for word in ("-ex", command)]
    run = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", *words]
    return _cost_of(
        resource.RUSAGE_CHILDREN,
        lambda: subprocess.run(run, check=True, stdout=subprocess.DEVNULL, env=environment()),
    )


def _made(bare: Path) -> tuple[Path, Cost]:
    """The symbol file, and what it cost to have it."""
    found: list[Path] = []

    def make() -> None:  # as whocall.repair.plan does for the first file of a module
        process = native.open_file(str(bare))
        key = symbol_cache.key_of(str(bare), process.modules[0].build_id_on_disk, "")
        assert key is not None
        kept = symbol_cache.find(key)
        if kept is None:
            made = process.repair_file(0, budget=AT_ONCE, beside=True)
            facts = {"named": made.named, "unnamed": made.unnamed, "ruled": made.functions}
            kept = symbol_cache.keep(key, made.bytes, facts)
        found.append(kept.path)

    cost = _cost_of(resource.RUSAGE_SELF, make)
    return found[0], cost


def _round(program: Program) -> dict[str, Cost]:
    for old in symbol_cache.directory().iterdir():
        old.unlink()
    path, first = _made(program.bare)
    _, second = _made(program.bare)
    load = f"python gdb.objfiles()[0].add_separate_debug_file('{path}')"
    return {
        "empty": _gdb(),
        "twin": _gdb(f"file {program.twin}"),
        "bare": _gdb(f"file {program.bare}"),
        "loaded": _gdb(f"file {program.bare}", load),
        "first": first,
        "second": second,
    }


def _print(program: Program, rounds: list[dict[str, Cost]]) -> None:
    for at, clock in enumerate(Cost._fields):
        median = {key: statistics.median(one[key][at] for one in rounds) for key in rounds[0]}
        reads = median["twin"] - median["empty"]
        loads = median["loaded"] - median["bare"]
        first, second = median["first"], median["second"]
        print(
            f"{program.kind:18}{clock:5}{reads:10.1f}{first:10.1f}{second:10.2f}{loads:10.1f}"
            f"{first / reads:10.3f}{second / first:10.3f}{(second + loads) / reads:10.3f}"
        )


def main() -> None:
    """Prints two lines for each program: processor time, and the clock."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"{FUNCTIONS:,} functions, median of {rounds} rounds; milliseconds, then ratios")
    print(
        f"{'program':18}{'':5}{'gdb reads':>10}{'we make':>10}{'again':>10}{'gdb loads':>10}"
        f"{'make/read':>10}{'again/mk':>10}{'ag+ld/rd':>10}"
    )
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        for program in _programs(Path(folder)):
            _print(program, [_round(program) for _ in range(rounds)])


if __name__ == "__main__":
    main()
