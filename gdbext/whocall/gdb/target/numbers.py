"""Whether gdb's own `bt` gives frames the numbers that whocall's backtrace has."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import gdb

from whocall.gdb.target.frames import past_main

MOST_COMPARED = 32  # frames: gdb has to find them one by one, at the cost of its own `bt`


def _beyond(shown: Sequence[Sequence[int]], level: int) -> int | None:
    """The first level that gdb did not come to."""
    return next((wanted for wanted, _ in shown if wanted > level), None)


def _first_other(shown: Sequence[Sequence[int]]) -> int | None:
    """The first of the (level, pc) shown that is another frame of gdb's, or none."""
    mask = (1 << 8 * gdb.lookup_type("char").pointer().sizeof) - 1
    level = 0
    try:
        frame = gdb.newest_frame()
        for wanted, pc in shown:
            while level < wanted and frame is not None:
                frame = frame.older()
                level += 1
            if frame is None or (frame.pc() ^ pc) & mask:
                return wanted
    except gdb.error:
        return _beyond(shown, level)
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
    return [f'gdb\'s own "bt" has other frames from #{first} on; "whocall frame N" selects these.']
