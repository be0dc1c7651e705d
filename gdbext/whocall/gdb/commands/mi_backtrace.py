"""`-whocall-backtrace`: the backtrace for programs that speak GDB/MI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whocall.frontend.options import MI_BACKTRACE
from whocall.gdb.host.downloads import silence
from whocall.gdb.target.answering import answer
from whocall.gdb.target.walks import wanted_walk
from whocall.report.form import jsonform


def run(words: Sequence[str]) -> dict[str, Any]:
    """The fields of the result record; raises Error."""
    silence()
    parsed = MI_BACKTRACE.parse_words(words)
    wanted = {"walk": wanted_walk(parsed)}
    found = answer("backtrace_data", wanted, every_thread=parsed.has("all-threads"))
    return {"backtrace": jsonform.mi_value(found.result)}
