"""`whocall export` in gdb: a symbol file for a colleague without whocall."""

from __future__ import annotations

from pathlib import Path

import gdb

from whocall.base.errors import UsageError
from whocall.base.output_file import write_bytes
from whocall.gdb.host.output import write
from whocall.gdb.target.answering import answer, answer_of_files
from whocall.gdb.target.executable import program_file
from whocall.shared_front_end.options import Parsed, syntax


def exported_file(parsed: Parsed) -> Path:
    """The file to write."""
    if not parsed.arguments:
        raise UsageError('"whocall export" needs the name of the file to write')
    return Path(parsed.arguments[0]).expanduser()


def run(line: str) -> None:
    """Writes names and all rules of a module to a file."""
    parsed = syntax("export").parse(line)
    path = exported_file(parsed)
    wanted = {"module": parsed.values.get("module", ""), "output": str(path)}
    if gdb.selected_thread() is not None:
        found = answer("plans.exported", wanted)
    else:
        found = answer_of_files("plans.exported_file", {**wanted, "file": program_file()})
    write_bytes(path, *found.contents, private=False)
    write(map(str, found.result))


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.base.programs import behind_dashes, option
    from whocall.gdb.commands.elsewhere import show
    from whocall.gdb.target.backend_arguments import core_and_program, search_arguments

    parsed = syntax("export").parse(line)
    module = parsed.values.get("module", "")
    arguments = [option("--module", module)] if module else []
    arguments += [option("--output", exported_file(parsed).absolute()), *search_arguments()]
    if gdb.selected_thread() is None:
        show("export", [*arguments, *behind_dashes(program_file())])
        return
    core, *exe = core_and_program()
    programs = [option("--exe", path) for path in exe]
    show("export", [*arguments, *programs, *behind_dashes(core)])
