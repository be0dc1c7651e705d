"""`-whocall-backtrace`: the backtrace for programs that speak GDB/MI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whocall import jsonform
from whocall.gdb.backtraces import report_of
from whocall.gdb.downloads import silence
from whocall.gdb.inferior import current
from whocall.options import MI_BACKTRACE


def run(words: Sequence[str]) -> dict[str, Any]:
    """The fields of the result record; raises Error."""
    silence()
    parsed = MI_BACKTRACE.parse_words(words)
    every_thread = parsed.has("all-threads")
    report = report_of(current(every_thread), parsed, every_thread)
    return {"backtrace": jsonform.mi_value(jsonform.backtrace_json(report))}
