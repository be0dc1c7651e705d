"""Runs of a repeating cycle of functions in a chain: what an endless recursion leaves behind.

Native code finds them (`native/report/form/cycles.h`). Text shows the first cycle of a run and its
last frames; between them stands how many frames are left out there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whocall.base.model import Frame, OnDemand
from whocall.base.records import dataclass


@dataclass(frozen=True)
class Gap:
    """Frames [begin, end) of a chain that repeat the `period` frames before them `times` times."""

    begin: int
    end: int
    period: int

    @property
    def times(self) -> int:
        return (self.end - self.begin) // self.period


def gaps(frames: Sequence[Frame]) -> Sequence[Gap]:
    """What to leave out, innermost first: behind each gap the run shows one frame at least, and one
    cycle at the most. Of frames that no walk has made it is nothing.
    """
    return [Gap(*found) for found in frames.gaps()] if isinstance(frames, OnDemand) else []


def shown(frames: Sequence[Frame]) -> Iterator[int | Gap]:
    """Indices of the frames that have lines, and in the places of the others the gaps."""
    at = 0
    for gap in gaps(frames):
        yield from range(at, gap.begin)
        yield gap
        at = gap.end
    yield from range(at, len(frames))


def gap_line(gap: Gap) -> str:
    """`... 261,984 frames: the 2 frames above repeated 130,992 times ...`"""
    from whocall.base.native_module import native

    return native.gap_line(gap.begin, gap.end, gap.period)
