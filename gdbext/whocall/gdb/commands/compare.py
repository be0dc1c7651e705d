"""`whocall compare` in gdb."""

from __future__ import annotations

from dataclasses import asdict

import gdb

from whocall.frontend.options import COMPARE, Parsed
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import style_codes, write
from whocall.gdb.repair import attached
from whocall.gdb.target.answering import answer
from whocall.gdb.target.frames import selection_kept, stack_of
from whocall.gdb.target.inferior import inferior_prefix, readable_selection
from whocall.gdb.target.walks import wanted_walk
from whocall.report.form.jsonform import Json


def _gdb_stacks(every_thread: bool) -> Json:
    """gdb's frames by thread number."""
    inferior, thread = readable_selection()
    threads = inferior.threads() if every_thread else [thread]
    with selection_kept():
        return {each.num: asdict(stack_of(each)) for each in threads}


def run(line: str) -> None:
    """Prints whocall's frames beside gdb's, or beside those of a shadow stack."""
    parsed = COMPARE.parse(line)
    if parsed.has("json"):
        silence()
    every_thread = parsed.has("all")
    wanted: Json = {
        "walk": wanted_walk(Parsed(), past_main=True),
        "json": parsed.has("json"),
        "inferior": inferior_prefix(),
        "style": style_codes(),
        "columns": gdb.parameter("width"),
    }
    if parsed.has("shadow"):
        answer("shadow", wanted, every_thread=every_thread)
        return
    answer("comparison", {**wanted, "stacks": _gdb_stacks(every_thread)}, every_thread=every_thread)
    if not parsed.has("json"):
        write(attached.remark())
