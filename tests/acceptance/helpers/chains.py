"""Call chains as lists of program counters: whocall's through its public API, and how two differ.

Inlined frames have no return address of their own, so they stand in no chain here; a chain goes on
beyond `main` to the frame that nothing called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from places.needs import OTHERS

import whocall
from whocall.base.process_image import ProcessImage, Walk

if TYPE_CHECKING:
    from whocall.base.model import Backtrace, Frame

SHARED_CORES = OTHERS
"""Cores that others made, beside the checkout; the only thing that a test here may miss."""


@dataclass(frozen=True)
class Difference:
    """What a chain has beside the true one: true frames that it lacks, false ones that it shows."""

    missing: tuple[int, ...]
    false: tuple[int, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.false)

    def __str__(self) -> str:
        missing, false = (" ".join(f"{pc:#x}" for pc in pcs) for pcs in (self.missing, self.false))
        return f"missing: {missing or '-'}; false: {false or '-'}"


def difference(found: Sequence[int], true: Sequence[int]) -> Difference:
    """Aligns a chain with the true one; empty exactly when they are equal.

    Two chains of the same pcs in another order differ as well: what stands elsewhere is false
    there and missing here.
    """
    missing: list[int] = []
    false: list[int] = []
    blocks = SequenceMatcher(None, list(found), list(true), autojunk=False).get_opcodes()
    for tag, begin, end, true_begin, true_end in blocks:
        if tag != "equal":
            false += found[begin:end]
            missing += true[true_begin:true_end]
    return Difference(tuple(missing), tuple(false))


def physical(trace: Backtrace) -> list[Frame]:
    """The frames that have a place on the stack."""
    return [frame for frame in trace.frames if not frame.inlined]


def pcs(trace: Backtrace) -> list[int]:
    """The chain of one of whocall's backtraces."""
    return [frame.pc for frame in physical(trace)]


def traces(image: ProcessImage, walk: Walk | None = None) -> dict[int, Backtrace]:
    """whocall's backtraces of all threads, beyond main, by thread id."""
    walk = walk or Walk(past_main=True, lines=False, demangle=False)
    return {trace.lwp: trace for trace in image.report(walk=walk).threads}


def of_core(core: Path, exe: Path | None = None, walk: Walk | None = None) -> dict[int, Backtrace]:
    """The same of a core file, opened and closed."""
    with whocall.open_core(str(core), str(exe) if exe else "") as image:
        return traces(image, walk)


def of_process(pid: int) -> dict[int, Backtrace]:
    """The same of a live process, which goes on afterwards."""
    with whocall.open_process(pid) as image:
        return traces(image)


def listing(trace: Backtrace) -> str:
    """A backtrace as the message of a failing test: what was found, how, and why it ended."""
    lines = [
        f"  #{frame.level} {frame.pc:#x} {frame.function or '??'} in {frame.module} [{frame.trust}]"
        f" {'; '.join(frame.evidence)}"
        for frame in trace.frames
    ]
    return "\n".join([*lines, f"  stop: {trace.stop.reason} {trace.stop.detail}"])
