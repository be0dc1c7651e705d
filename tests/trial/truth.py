"""What is known of the frames of a core, kept beside it.

eu-stack is believed frame by frame while unwind tables lead it. Behind a frame that no table
covers it follows rbp, which compilers use for anything: there the truth ends, unless the program
is known to keep frame pointers (`program.FRAME_POINTERS`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from oracles import eu_stack

from trial.covered import Covered
from trial.program import FRAME_POINTERS

LIMIT = 4000
"""Frames of a thread: eu-stack's time grows with the square of the depth."""

OUTERMOST = ("_start", "clone", "__clone", "clone3", "__clone3")


@dataclass(frozen=True)
class ThreadTruth:
    """True pcs, innermost first; `complete` when nothing called the last one."""

    pcs: list[int]
    names: list[str | None]
    complete: bool
    ends: str


@dataclass(frozen=True)
class Truth:
    """Of one core: the executable, and the threads by id."""

    exe: str
    threads: dict[int, ThreadTruth]


def find(core: Path, exe: Path, believed: str) -> Truth:
    """Asks eu-stack."""
    said = eu_stack.of_core(core, exe, LIMIT)
    covered = Covered(core, exe)
    return Truth(
        str(exe),
        {
            tid: _of_thread(frames, covered, said.complete, believed)
            for tid, frames in said.threads.items()
        },
    )


def _of_thread(
    frames: list[eu_stack.EuFrame], covered: Covered, complete: bool, believed: str
) -> ThreadTruth:
    kept = list(frames)
    ends = "eu-stack's end"
    for number, frame in enumerate(frames):
        at = frame.pc if frame.activation else frame.pc - 1
        if believed != FRAME_POINTERS and not covered.has_table(at):
            kept = frames[: number + 1]
            ends = f"no table: {frame.module or 'nowhere'}"
            break
    known_end = bool(kept) and len(kept) == len(frames) and (kept[-1].name or "") in OUTERMOST
    whole = len(kept) == len(frames) and len(kept) < LIMIT and (known_end or complete)
    return ThreadTruth([frame.pc for frame in kept], [frame.name for frame in kept], whole, ends)


def save(truth: Truth, path: Path) -> None:
    """As JSON."""
    path.write_text(json.dumps(asdict(truth), indent=0))


def load(path: Path) -> Truth:
    """What `save` wrote."""
    data = json.loads(path.read_text())
    threads = {int(tid): ThreadTruth(**thread) for tid, thread in data["threads"].items()}
    return Truth(data["exe"], threads)
