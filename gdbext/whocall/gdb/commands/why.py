"""`whocall why` in gdb."""

from __future__ import annotations

from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import screen_width, style_codes
from whocall.gdb.target.answering import answer
from whocall.gdb.target.walks import wanted_walk
from whocall.shared_front_end.options import Parsed, syntax


def run(line: str) -> None:
    """Prints the sentence, and what shows it."""
    parsed = syntax("why").parse(line)
    if parsed.has("json"):
        silence()
    wanted = {
        "walk": wanted_walk(Parsed(), past_main=True),
        "json": parsed.has("json"),
        "style": style_codes(),
        "columns": screen_width(),
    }
    answer("backtraces.why", wanted)


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.gdb.commands.elsewhere import (
        flags,
        look_arguments,
        show,
        walk_arguments,
        width_arguments,
    )
    from whocall.gdb.target.backend_arguments import core_and_program, search_arguments

    parsed = syntax("why").parse(line)
    arguments = [*core_and_program(), *flags(parsed, "json"), *walk_arguments(Parsed())]
    arguments += [*search_arguments(), *look_arguments(), *width_arguments()]
    show("why", arguments)
