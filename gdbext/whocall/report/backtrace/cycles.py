"""Runs of a repeating cycle of functions in a chain: what an endless recursion leaves behind.

Text shows the first cycle of a run and its last frames; between them stands how many frames are
left out there. A recursion of a few calls is no run: it reads best as it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from whocall.core.model import Frame, rows
from whocall.core.records import dataclass


@dataclass(frozen=True)
class Gap:
    """Frames [begin, end) of a chain that repeat the `period` frames before them `times` times."""

    begin: int
    end: int
    period: int

    @property
    def times(self) -> int:
        return (self.end - self.begin) // self.period


def _numbered(frames: Sequence[Frame]) -> array[int]:
    """A number for each frame; the same for those that read the same: the place of a call may
    differ from cycle to cycle, but not the function, nor how sure the frame is.
    """
    known: dict[object, int] = {}
    values = rows(frames, "pc", "function", "module", "inlined", "signal_trampoline", "trust")
    keys = ((pc if function is None else function, *others) for pc, function, *others in values)
    return array("I", (known.setdefault(key, len(known)) for key in keys))


def gaps(frames: Sequence[Frame]) -> Iterator[Gap]:
    """What to leave out, innermost first: behind each gap the run shows one frame at least, and one
    cycle at the most.
    """
    from whocall.core.engine import native  # where it cannot be loaded, others ask in its stead

    return (Gap(*found) for found in native.find_gaps(_numbered(frames)))


def shown(frames: Sequence[Frame], fold: bool = True) -> Iterator[int | Gap]:
    """Indices of the frames that have lines, and in the places of the others the gaps; with `fold`
    off all have.
    """
    at = 0
    for gap in gaps(frames) if fold else ():
        yield from range(at, gap.begin)
        yield gap
        at = gap.end
    yield from range(at, len(frames))


def gap_line(gap: Gap) -> str:
    """`... 261,984 frames: the 2 frames above repeated 130,992 times ...`"""
    above = "the frame above" if gap.period == 1 else f"the {gap.period} frames above"
    times = "once" if gap.times == 1 else f"{gap.times:,} times"
    count = gap.end - gap.begin
    return f"... {count:,} frames: {above} repeated {times} ..."
