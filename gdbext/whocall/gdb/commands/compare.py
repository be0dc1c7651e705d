"""`whocall compare` in gdb."""

from __future__ import annotations

from dataclasses import asdict

import gdb

from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import style_codes, write
from whocall.gdb.repair import attached
from whocall.gdb.target.answering import answer
from whocall.gdb.target.frames import selection_kept, stack_of, stacks_json
from whocall.gdb.target.inferior import inferior_prefix, readable_selection
from whocall.gdb.target.walks import wanted_walk
from whocall.report.form.jsonform import Json
from whocall.shared_front_end.options import Parsed, syntax


def _gdb_stacks(every_thread: bool) -> Json:
    """gdb's frames by thread number."""
    inferior, thread = readable_selection()
    threads = inferior.threads() if every_thread else [thread]
    with selection_kept():
        return {each.num: asdict(stack_of(each)) for each in threads}


def run(line: str) -> None:
    """Prints whocall's frames beside gdb's, or beside those of a shadow stack."""
    parsed = syntax("compare").parse(line)
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
        answer("comparisons.shadow", wanted, every_thread=every_thread)
        return
    answer(
        "comparisons.comparison",
        {**wanted, "stacks": _gdb_stacks(every_thread)},
        every_thread=every_thread,
    )
    if not parsed.has("json"):
        write(attached.remark())


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.base.programs import option, words
    from whocall.gdb.commands.elsewhere import flags, look_arguments, show, walk_arguments
    from whocall.gdb.target.backend_arguments import core_and_program, search_arguments

    parsed = syntax("compare").parse(line)
    arguments = [*core_and_program(), *flags(parsed, "json", "shadow")]
    arguments += walk_arguments(Parsed(), parsed.has("all"))
    if parsed.has("shadow"):
        show("compare", [*arguments, *search_arguments(), *look_arguments()])
        return
    width = gdb.parameter("width")
    arguments += [*words("--gdb-frames=-"), *([option("--width", width)] if width else [])]
    inferior, thread = readable_selection()
    frames = stacks_json(inferior.threads() if parsed.has("all") else [thread])
    show("compare", [*arguments, *search_arguments(), *look_arguments()], frames)
    if not parsed.has("json"):
        write(attached.remark())
