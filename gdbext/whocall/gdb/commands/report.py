"""`whocall report` in gdb: a page for those who do not sit in gdb."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import gdb

from whocall.base.errors import UsageError
from whocall.base.output_file import write_bytes
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import write
from whocall.gdb.host.settings import asks_debuginfod
from whocall.gdb.repair import attached
from whocall.gdb.target.answering import answer, require_process
from whocall.gdb.target.frames import selection_kept, stack_of
from whocall.gdb.target.walks import wanted_walk
from whocall.report.form.jsonform import Json
from whocall.shared_front_end.options import Parsed, syntax


def page_file(parsed: Parsed) -> Path | None:
    """The file to write; None where the data are printed."""
    name = parsed.values.get("output")
    if name is None and not parsed.has("json"):
        raise UsageError(
            "whocall report writes a page: say where with -output FILE.html, or ask for -json"
        )
    return None if name is None else Path(name).expanduser()


def _stack(number: int) -> Json:
    """gdb's frames of the thread; why there are none where they would not be gdb's own."""
    if attached.remark():
        return {"error": 'gdb is repaired; "whocall revert" brings its own frames back'}
    threads = gdb.selected_inferior().threads()
    thread = next((each for each in threads if each.num == number), None)
    if thread is None:
        return {"error": f"gdb has no thread {number}"}
    with selection_kept():
        return asdict(stack_of(thread))


def run(line: str) -> None:
    """Writes the page, or its data."""
    require_process()
    parsed = syntax("report").parse(line)
    path = page_file(parsed)
    if parsed.has("json"):
        silence()
    wanted: Json = {
        "walk": wanted_walk(parsed, past_main=True),
        "json": parsed.has("json"),
        "to_file": path is not None,
        "title": parsed.values.get("title", ""),
        "asks_debuginfod": asks_debuginfod(),
        "stack": None,
    }
    first = answer("reports.first_thread", wanted, every_thread=True).result
    if not parsed.has("no-gdb"):
        wanted["stack"] = _stack(first["number"]) if first["is_short"] else {"error": "too long"}
    found = answer("reports.report", wanted, every_thread=True)
    if path is not None:
        write_bytes(path, *found.contents, private=True)
        write([f"{path}: {'data' if parsed.has('json') else 'page'} written"])


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.base.programs import behind_dashes, option
    from whocall.gdb.commands.elsewhere import flags, show
    from whocall.gdb.target.backend_arguments import (
        core_and_program,
        search_arguments,
        strategy_arguments,
    )

    parsed = syntax("report").parse(line)
    path = page_file(parsed)
    core, *exe = core_and_program()
    arguments = [*flags(parsed, "json", "no-gdb"), *strategy_arguments(parsed)]
    arguments += [option("--exe", each) for each in exe]
    arguments += [option("--output", path.absolute())] if path is not None else []
    title = parsed.values.get("title")
    arguments += [option("--title", title)] if title else []
    show("report", [*arguments, *search_arguments(), *behind_dashes(core)])
    if path is not None:
        write([f"{path}: {'data' if parsed.has('json') else 'page'} written"])
