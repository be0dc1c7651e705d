"""`whocall` alone: who called the selected frame, in one line."""

from __future__ import annotations

import gdb

from whocall.frontend.options import Parsed
from whocall.gdb.host.output import style_codes
from whocall.gdb.target.answering import answer
from whocall.gdb.target.frames import selected_level
from whocall.gdb.target.walks import wanted_walk


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
    level = (selected_level() or 0) if gdb.selected_thread() is not None else 0
    wanted = {
        "walk": wanted_walk(Parsed(), past_main=True),
        "level": level,
        "pc": selected_pc() if level else None,
        "style": style_codes(),
    }
    answer("caller", wanted)
