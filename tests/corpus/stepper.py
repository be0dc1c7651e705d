"""Build and use stepper.c: crash a program under single steps, learn its call stack as it grew."""

from __future__ import annotations

from pathlib import Path

from artifact_cache import compilers, kept

from corpus.build import run
from corpus.dumper import HEADERS, WRITER
from corpus.voices import Chain, Claim

SOURCE = Path(__file__).with_name("stepper.c")
COMMAND = ("gcc", "-O2", "-w")


def compiled_stepper() -> Path:
    """The program, built once on a machine."""

    def compile_in(place: Path) -> Path:
        program = place / "stepper"
        run([*COMMAND, str(SOURCE), *map(str, WRITER), "-o", str(program)], place)
        return program

    return kept(("stepper", COMMAND, SOURCE, WRITER, HEADERS, compilers("gcc")), compile_in)


def read_steps(record: Path) -> dict[int, Chain]:
    """What the stepper wrote: for each tid the callers, innermost first, without the crash pc."""
    chains = {}
    for line in record.read_text().splitlines():
        tid, *callers = line.split()
        chains[int(tid)] = [_claim(caller) for caller in callers]
    return chains


def _claim(caller: str) -> Claim:
    """Of `SLOT:PC`, or `SP:PC:` where a signal interrupted and no slot holds the pc."""
    place, pc, *interrupted = caller.partition("=")[0].split(":")
    return Claim(int(pc, 16), None if interrupted else int(place, 16))
