"""`whocall` alone: who called the selected frame, in one line."""

from __future__ import annotations

import gdb

from whocall.caller import chain, sentence, shown_pcs
from whocall.gdb.frames import selected_level
from whocall.gdb.inferior import current
from whocall.gdb.output import current_style, warn, write
from whocall.gdb.walks import walk_of
from whocall.module_warnings import warnings_on
from whocall.options import Parsed


def selected_pc() -> int:
    """The selected frame's pc; of a tail call, which only debug info knows, that of what it left
    its place to.
    """
    frame = gdb.selected_frame()
    while frame.type() == gdb.TAILCALL_FRAME:
        frame = frame.newer()
    return int(frame.pc())


def run(line: str) -> None:
    """Prints the line."""
    now = current()
    walk = walk_of(Parsed(), past_main=True)
    level = selected_level() or 0
    trace, at = chain(now.image, now.selected, walk, level, selected_pc() if level else None)
    warn(warnings_on(now.image, shown_pcs(trace, at)))
    write([sentence(trace, at, current_style())])
