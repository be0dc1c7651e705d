"""`whocall audit` in gdb."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import gdb

from whocall.base.errors import Error, UsageError
from whocall.gdb.host.output import screen_width, style_codes
from whocall.gdb.target.answering import answer, answer_of_files
from whocall.gdb.target.executable import executable
from whocall.gdb.target.walks import demangle
from whocall.report.tables.audit import DIFFERENCES
from whocall.shared_front_end.options import Parsed, syntax

NO_FILE = 'There is no program to audit.  Name a file: "whocall audit FILE".'


def module_file(modules: Iterable[tuple[int, int, str, str, str]]) -> str:
    """The file of the module that the selected frame is in.

    `modules` are begin and end, state, file and path in the process.
    """
    pc = int(gdb.selected_frame().pc())
    for begin, end, state, file, path in modules:
        if begin <= pc < end:
            if state == "found" and file:
                return file
            raise Error(
                f"{path or 'The module'}, which the selected frame is in, has no file here"
                f' ({state}).  Name one: "whocall audit FILE".'
            )
    raise Error(
        f"The selected frame's pc, {pc:#x}, is in no module.  Name a file, or select another frame."
    )


def _of_selected_frame() -> str:
    return module_file(tuple(module) for module in answer("tables.module_ranges", {}).result)


def audited_file(parsed: Parsed, of_selected_frame: Callable[[], str]) -> str:
    """The file that is named, else that of the selected frame, else the program."""
    if parsed.arguments:
        return str(Path(parsed.arguments[0]).expanduser())
    if gdb.selected_thread() is not None:
        return of_selected_frame()
    path = executable(gdb.selected_inferior())
    if not path:
        raise Error(NO_FILE)
    return path


def wanted_limit(parsed: Parsed) -> int:
    """How many differences to tell in full."""
    text = parsed.values.get("limit", str(DIFFERENCES))
    if not text.isdecimal():
        raise UsageError(f'whocall audit -limit takes a number, not "{text}"')
    return int(text)


def run(line: str) -> None:
    """Audits a file."""
    parsed = syntax("audit").parse(line)
    wanted = {
        "file": audited_file(parsed, _of_selected_frame),
        "limit": wanted_limit(parsed),
        "demangle": demangle(),
        "json": parsed.has("json"),
        "style": style_codes(),
        "columns": screen_width(),
    }
    answer_of_files("tables.audit", wanted)


def _of_selected_frame_elsewhere() -> str:
    import json

    from whocall.base.programs import words
    from whocall.gdb.commands.elsewhere import ran
    from whocall.gdb.target.backend_arguments import core_and_program, search_arguments

    said = ran("modules", [*core_and_program(), *words("--json"), *search_arguments()])
    modules = json.loads(said)["modules"]
    return module_file(
        (int(module["begin"], 16), int(module["end"], 16), module["state"], module["file"] or "",
         module["path"])
        for module in modules
    )  # fmt: skip


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.base.programs import behind_dashes, option
    from whocall.gdb.commands.elsewhere import flags, look_arguments, show

    parsed = syntax("audit").parse(line)
    limit = option("--limit", wanted_limit(parsed))
    arguments = [limit, *flags(parsed, "json"), *look_arguments()]
    file = audited_file(parsed, _of_selected_frame_elsewhere)
    show("audit", [*arguments, *behind_dashes(file)])
