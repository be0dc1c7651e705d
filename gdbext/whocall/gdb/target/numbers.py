"""Whether gdb's own `bt` gives frames the numbers that whocall's backtrace has."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import gdb

from whocall.gdb.target.frames import past_main

MOST_BETWEEN = 4  # frames that gdb alone has, such as inlined functions and tail calls
MOST_COMPARED = 32  # frames: gdb has to find them one by one, at the cost of its own `bt`


def _beyond(shown: Sequence[Sequence[int]], level: int) -> int | None:
    """The first level that gdb did not come to."""
    return next((wanted for wanted, _ in shown if wanted > level), None)


def _comes(frame: gdb.Frame | None, pc: int, mask: int) -> bool:
    """Whether gdb has a frame of this pc at most a few levels farther out."""
    for _ in range(MOST_BETWEEN):
        if frame is None or not (frame.pc() ^ pc) & mask:
            return frame is not None
        frame = frame.older()
    return False


def _first_other(shown: Sequence[Sequence[int]]) -> tuple[int, bool] | None:
    """The first of the (level, pc) shown that is another frame of gdb's, and whether gdb just has
    others before it; or none.
    """
    mask = (1 << 8 * gdb.lookup_type("char").pointer().sizeof) - 1
    level = 0
    try:
        frame = gdb.newest_frame()
        for wanted, pc in shown:
            while level < wanted and frame is not None:
                frame = frame.older()
                level += 1
            if frame is None or (frame.pc() ^ pc) & mask:
                return wanted, _comes(frame, pc, mask)
    except gdb.error:
        beyond = _beyond(shown, level)
        return None if beyond is None else (beyond, False)
    return None


def numbers_remark(shown: Sequence[Sequence[int]], beyond_main: bool) -> list[str]:
    """A line on the frames that gdb numbers otherwise, or lacks; none where there are none. That
    gdb does not go `beyond_main` where whocall was told to makes no difference.
    """
    if not shown:
        return []
    with past_main() if beyond_main else nullcontext():
        first = _first_other(shown)
    if first is None:
        return []
    level, is_there = first
    has = "gives frames other numbers" if is_there else "has other frames"
    return [f'gdb\'s own "bt" {has} from #{level} on; "whocall frame N" selects these.']
