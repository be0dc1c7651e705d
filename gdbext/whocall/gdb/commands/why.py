"""`whocall why` in gdb."""

from __future__ import annotations

from whocall.frontend.options import WHY, Parsed
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import style_codes
from whocall.gdb.target.answering import answer
from whocall.gdb.target.walks import wanted_walk


def run(line: str) -> None:
    """Prints the sentence, and what shows it."""
    parsed = WHY.parse(line)
    if parsed.has("json"):
        silence()
    wanted = {
        "walk": wanted_walk(Parsed(), past_main=True),
        "json": parsed.has("json"),
        "style": style_codes(),
    }
    answer("why", wanted)
