"""What is known of the frames of a core, kept beside it.

eu-stack is believed frame by frame while unwind tables lead it. Behind a frame that no table
covers it follows rbp, which compilers use for anything: there the truth ends, unless the program
is known to keep frame pointers (`program.FRAME_POINTERS`).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from oracles import eu_stack
from oracles.tools import ToolError

from field_trial.covered import Covered
from field_trial.program import FRAME_POINTERS, Program

LIMIT = 4000
"""Frames of a thread: eu-stack's time grows with the square of the depth."""

LEAST_CODE = 0x1000
"""No code lies below."""

OUTERMOST = ("_start", "clone", "__clone", "clone3", "__clone3")


@dataclass(frozen=True)
class ThreadTruth:
    """True pcs, innermost first; `complete` when nothing called the last one. `returned`: pc and
    stack pointer of frames behind the end to which the thread came back (`returns.py`).
    """

    pcs: list[int]
    names: list[str | None]
    complete: bool
    ends: str
    returned: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Truth:
    """Of one core: the executable, and the threads by id."""

    exe: str
    threads: dict[int, ThreadTruth]


def find(core: Path, exe: Path, program: Program, work: Path, pid: int = 0) -> Truth:
    """Asks eu-stack; `work` is where the program runs. Cores of some executables it cannot read:
    then it looks at the process `pid`, which has to stand still since the core was written.
    """
    source = [f"--core={core}", f"--executable={exe}"]
    with _in_place(work / program.twin, exe) if program.twin else contextlib.nullcontext():
        try:
            said = eu_stack.of_core(core, exe, LIMIT)
        except ToolError:
            if not pid:
                raise
            said = eu_stack.of_process(pid, LIMIT)
            source = ["-p", str(pid)]
    covered = Covered(source)
    return Truth(
        str(exe),
        {
            tid: _of_thread(frames, covered, said.complete, program)
            for tid, frames in said.threads.items()
        },
    )


@contextlib.contextmanager
def _in_place(twin: Path, exe: Path) -> Iterator[None]:
    """Meanwhile the twin has the executable's name: eu-stack prefers the path that the core has."""
    aside = exe.with_name("aside")
    exe.rename(aside)
    try:
        twin.rename(exe)
        try:
            yield
        finally:
            exe.rename(twin)
    finally:
        aside.rename(exe)


def _of_thread(
    frames: list[eu_stack.EuFrame], covered: Covered, complete: bool, program: Program
) -> ThreadTruth:
    kept = list(frames)
    ends = "eu-stack's end"
    for number, frame in enumerate(frames):
        at = frame.pc if frame.activation else frame.pc - 1
        if frame.pc < LEAST_CODE:
            # Tables err too: those of glibc's memmove for i386 know nothing of its pushes.
            kept, ends = frames[:number], "eu-stack has erred"
            break
        switches = frame.name in program.last
        if switches or (program.believed != FRAME_POINTERS and not covered.has_table(at)):
            kept = frames[: number + 1]
            ends = "a switch of stacks" if switches else f"no table: {frame.module or 'nowhere'}"
            break
    known_end = bool(kept) and len(kept) == len(frames) and (kept[-1].name or "") in OUTERMOST
    cut = len(kept) < len(frames) or len(kept) >= LIMIT or ends != "eu-stack's end"
    whole = not cut and (known_end or complete)
    return ThreadTruth([frame.pc for frame in kept], [frame.name for frame in kept], whole, ends)


def save(truth: Truth, path: Path) -> None:
    """As JSON."""
    path.write_text(json.dumps(asdict(truth), indent=0))


def load(path: Path) -> Truth:
    """What `save` wrote."""
    data = json.loads(path.read_text())
    threads = {int(tid): ThreadTruth(**thread) for tid, thread in data["threads"].items()}
    for thread in threads.values():
        thread.returned[:] = [(pc, sp) for pc, sp in thread.returned]
    return Truth(data["exe"], threads)
