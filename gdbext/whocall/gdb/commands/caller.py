"""`whocall` alone: who called the selected frame, in one line."""

from __future__ import annotations

import gdb

from whocall.gdb.host.output import screen_width, style_codes
from whocall.gdb.host.settings import filename_display
from whocall.gdb.target.answering import answer
from whocall.gdb.target.frames import selected_level
from whocall.gdb.target.walks import wanted_walk
from whocall.shared_front_end.options import Parsed


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
        "files": filename_display(),
        "columns": screen_width(),
    }
    answer("backtraces.caller", wanted)


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.base.programs import option
    from whocall.gdb.commands.elsewhere import (
        look_arguments,
        screen_arguments,
        show,
        walk_arguments,
    )
    from whocall.gdb.target.backend_arguments import core_and_program, search_arguments

    level = selected_level() or 0
    frame = [option("--frame", level), option("--pc", hex(selected_pc()))] if level else []
    arguments = [*core_and_program(), *frame, *walk_arguments(Parsed())]
    show("caller", [*arguments, *search_arguments(), *look_arguments(), *screen_arguments()])
