"""`whocall modules` in gdb."""

from __future__ import annotations

from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import screen_width, style_codes
from whocall.gdb.host.settings import asks_debuginfod
from whocall.gdb.target.answering import answer
from whocall.shared_front_end.options import syntax


def run(line: str) -> None:
    """Lists the loaded files."""
    parsed = syntax("modules").parse(line)
    if parsed.has("json"):
        silence()
    wanted = {
        "asks_debuginfod": asks_debuginfod(),
        "json": parsed.has("json"),
        "columns": screen_width(),
        "style": style_codes(),
    }
    answer("tables.modules", wanted)


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.base.programs import words
    from whocall.gdb.commands.elsewhere import flags, look_arguments, show, width_arguments
    from whocall.gdb.target.backend_arguments import core_and_program, search_arguments

    parsed = syntax("modules").parse(line)
    arguments = [*words("--settings-of-gdb"), *flags(parsed, "json"), *width_arguments()]
    show("modules", [*core_and_program(), *arguments, *search_arguments(), *look_arguments()])
