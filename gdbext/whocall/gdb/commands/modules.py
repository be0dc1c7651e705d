"""`whocall modules` in gdb."""

from __future__ import annotations

import gdb

from whocall.frontend.options import MODULES
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import style_codes
from whocall.gdb.host.settings import asks_debuginfod
from whocall.gdb.target.answering import answer


def run(line: str) -> None:
    """Lists the loaded files."""
    parsed = MODULES.parse(line)
    if parsed.has("json"):
        silence()
    wanted = {
        "asks_debuginfod": asks_debuginfod(),
        "json": parsed.has("json"),
        "width": gdb.parameter("width"),
        "style": style_codes(),
    }
    answer("modules", wanted)
