"""`whocall bt` in gdb."""

from __future__ import annotations

from whocall.frontend.options import BACKTRACE
from whocall.gdb.host import settings
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import screen_width, style_codes
from whocall.gdb.target.answering import answer
from whocall.gdb.target.inferior import inferior_prefix
from whocall.gdb.target.walks import wanted_walk


def run(line: str) -> None:
    """Prints the backtrace of the selected thread, or of all."""
    parsed = BACKTRACE.parse(line)
    if parsed.has("json"):
        silence()
    wanted = {
        "walk": wanted_walk(parsed),
        "json": parsed.has("json"),
        "fold": settings.folds() and not parsed.has("no-fold"),
        "inferior": inferior_prefix(),
        "style": style_codes(),
        "files": settings.filename_display(),
        "columns": screen_width(),
    }
    answer("backtrace", wanted, every_thread=parsed.has("all"))
