"""`whocall functions` in gdb."""

from __future__ import annotations

from whocall.frontend.options import FUNCTIONS
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import style_codes
from whocall.gdb.target.answering import answer
from whocall.gdb.target.walks import demangle


def run(line: str) -> None:
    """Lists functions at their runtime addresses."""
    parsed = FUNCTIONS.parse(line)
    if parsed.has("json"):
        silence()
    wanted = {
        "module": parsed.values.get("module", ""),
        "regex": parsed.arguments[0] if parsed.arguments else "",
        "demangle": demangle(),
        "json": parsed.has("json"),
        "style": style_codes(),
    }
    answer("functions", wanted)
