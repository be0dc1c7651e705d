"""Build and use stepper.c: crash a program under single steps, learn its call stack as it grew."""

from __future__ import annotations

import threading
from pathlib import Path

from corpus.build import run
from corpus.voices import Chain, Claim

SOURCE = Path(__file__).with_name("stepper.c")
_building = threading.Lock()


def stepper_in(directory: Path) -> Path:
    """The compiled stepper in the corpus' build directory."""
    program = directory / "stepper"
    with _building:
        if not program.exists():
            run(["gcc", "-O2", "-w", str(SOURCE), "-o", str(program)], directory)
    return program


def read_steps(record: Path) -> dict[int, Chain]:
    """What the stepper wrote: for each tid the callers, innermost first, without the crash pc."""
    chains = {}
    for line in record.read_text().splitlines():
        tid, *callers = line.split()
        chains[int(tid)] = [_claim(caller) for caller in callers]
    return chains


def _claim(caller: str) -> Claim:
    """Of `SLOT:PC`, or `SP:PC:` where a signal interrupted and no slot holds the pc."""
    place, pc, *interrupted = caller.split(":")
    return Claim(int(pc, 16), None if interrupted else int(place, 16))
