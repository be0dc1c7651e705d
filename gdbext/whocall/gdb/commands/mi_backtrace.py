"""`-whocall-backtrace`: the backtrace for programs that speak GDB/MI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whocall.frontend.options import MI_BACKTRACE
from whocall.gdb.commands.backtrace import report_of
from whocall.gdb.host.downloads import silence
from whocall.gdb.target.inferior import current
from whocall.report.form import jsonform


def run(words: Sequence[str]) -> dict[str, Any]:
    """The fields of the result record; raises Error."""
    silence()
    parsed = MI_BACKTRACE.parse_words(words)
    every_thread = parsed.has("all-threads")
    report = report_of(current(every_thread), parsed, every_thread)
    return {"backtrace": jsonform.mi_value(jsonform.backtrace_json(report))}
