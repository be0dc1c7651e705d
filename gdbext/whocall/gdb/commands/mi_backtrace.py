"""`-whocall-backtrace`: the backtrace for programs that speak GDB/MI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whocall.gdb.host.downloads import silence
from whocall.gdb.target.answering import answer
from whocall.gdb.target.walks import wanted_walk
from whocall.report.form import jsonform
from whocall.shared_front_end.options import machine_syntax


def run(words: Sequence[str]) -> dict[str, Any]:
    """The fields of the result record; raises Error."""
    silence()
    parsed = machine_syntax("bt").parse_words(words)
    wanted = {"walk": wanted_walk(parsed)}
    found = answer("backtraces.backtrace_data", wanted, every_thread=parsed.has("all-threads"))
    return {"backtrace": jsonform.mi_value(found.result)}


def run_elsewhere(given: Sequence[str]) -> dict[str, Any]:
    """The same by another Python."""
    import json

    from whocall.base.programs import words
    from whocall.gdb.commands.elsewhere import backtrace_arguments, look_arguments, ran

    parsed = machine_syntax("bt").parse_words(given)
    arguments = backtrace_arguments(parsed, parsed.has("all-threads"))
    found = json.loads(ran("bt", [*arguments, *look_arguments(), *words("--json")]))
    return {"backtrace": jsonform.mi_value(found)}
