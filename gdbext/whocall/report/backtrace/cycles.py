"""Runs of a repeating cycle of functions in a chain: what an endless recursion leaves behind.

Text shows the first cycle of a run and its last frames; between them stands how many frames are
left out there. A recursion of a few calls is no run: it reads best as it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from whocall.core.model import Frame, glance
from whocall.core.records import dataclass

TYPE_CHECKING = False

if TYPE_CHECKING:
    import whocall._native as native

LONGEST_CYCLE = 16  # frames
FEWEST_FRAMES = 24  # of a run
FEWEST_CYCLES = 3


@dataclass(frozen=True)
class Gap:
    """Frames [begin, end) of a chain that repeat the `period` frames before them `times` times."""

    begin: int
    end: int
    period: int

    @property
    def times(self) -> int:
        return (self.end - self.begin) // self.period


def _key(frame: Frame | native.Frame) -> object:
    """Equal for frames that read the same: the place of a call may differ from cycle to cycle, but
    not the function, nor how sure the frame is.
    """
    code = frame.pc if frame.function is None else frame.function
    return code, frame.module, frame.inlined, frame.signal_trampoline, frame.trust


def _numbered(frames: Sequence[Frame]) -> array[int]:
    """A number for each frame; the same for equal keys."""
    known: dict[object, int] = {}
    return array("I", (known.setdefault(_key(frame), len(known)) for frame in glance(frames)))


def _run_from(keys: Sequence[int], begin: int) -> tuple[int, int]:
    """Period and end of the run that begins there; the shortest period that makes one, else 0."""
    for period in range(1, LONGEST_CYCLE + 1):
        end = begin + period
        while end < len(keys) and keys[end] == keys[end - period]:
            end += 1
        if end - begin >= max(FEWEST_FRAMES, FEWEST_CYCLES * period):
            return period, end
    return 0, begin


def gaps(frames: Sequence[Frame]) -> Iterator[Gap]:
    """What to leave out, innermost first: behind each gap the run shows one frame at least, and one
    cycle at the most.
    """
    if len(frames) < FEWEST_FRAMES:
        return
    keys = _numbered(frames)
    at = 0
    while at + FEWEST_FRAMES <= len(keys):
        period, end = _run_from(keys, at)
        if period:
            begin = at + period
            last = (end - begin) % period or period
            yield Gap(begin, end - last, period)
            at = end
        else:
            at += 1


def gap_line(gap: Gap) -> str:
    """`... 261,984 frames: the 2 frames above repeated 130,992 times ...`"""
    above = "the frame above" if gap.period == 1 else f"the {gap.period} frames above"
    times = "once" if gap.times == 1 else f"{gap.times:,} times"
    count = gap.end - gap.begin
    return f"... {count:,} frames: {above} repeated {times} ..."
