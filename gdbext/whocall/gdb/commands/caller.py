"""`whocall` alone: who called the selected frame, in one line."""

from __future__ import annotations

import gdb

from whocall.core.module_warnings import warnings_on
from whocall.frontend.options import Parsed
from whocall.gdb.host.output import current_style, warn, write
from whocall.gdb.target.frames import selected_level
from whocall.gdb.target.inferior import current
from whocall.gdb.target.walks import walk_of
from whocall.report.backtrace.caller import chain, sentence, shown_pcs


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
