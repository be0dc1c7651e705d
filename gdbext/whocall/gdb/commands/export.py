"""`whocall export` in gdb: a symbol file for a colleague without whocall."""

from __future__ import annotations

from pathlib import Path

import gdb

from whocall.core.errors import UsageError
from whocall.core.output_file import write_bytes
from whocall.frontend.options import EXPORT, Parsed
from whocall.gdb.host.output import write
from whocall.gdb.target.answering import answer, answer_of_files
from whocall.gdb.target.executable import program_file


def exported_file(parsed: Parsed) -> Path:
    """The file to write."""
    if not parsed.arguments:
        raise UsageError('"whocall export" needs the name of the file to write')
    return Path(parsed.arguments[0]).expanduser()


def run(line: str) -> None:
    """Writes names and all rules of a module to a file."""
    parsed = EXPORT.parse(line)
    path = exported_file(parsed)
    wanted = {"module": parsed.values.get("module", ""), "output": str(path)}
    if gdb.selected_thread() is not None:
        found = answer("exported", wanted)
    else:
        found = answer_of_files("exported_file", {**wanted, "file": program_file()})
    write_bytes(path, *found.contents, private=False)
    write(map(str, found.result))
