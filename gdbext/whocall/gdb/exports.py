"""`whocall export` in gdb: a symbol file for a colleague without whocall."""

from __future__ import annotations

from pathlib import Path

import gdb

from whocall.errors import Error, UsageError
from whocall.gdb import parameters
from whocall.gdb.inferior import current, executable
from whocall.gdb.output import write
from whocall.image import ProcessImage, open_file_image
from whocall.options import EXPORT
from whocall.repair import export, export_lines, module_named


def _image() -> ProcessImage:
    """That of the process, or before it runs of the program's file."""
    if gdb.selected_thread() is not None:
        return current().image
    exe = executable(gdb.selected_inferior())
    if not exe:
        raise Error('There is no program.  Use "file PROGRAM" first.')
    return open_file_image(exe, search=parameters.search())


def run(line: str) -> None:
    """Writes names and all rules of a module to a file."""
    parsed = EXPORT.parse(line)
    if not parsed.arguments:
        raise UsageError('"whocall export" needs the name of the file to write')
    path = Path(parsed.arguments[0]).expanduser()
    image = _image()
    module = module_named(image, parsed.values.get("module", ""))
    write(export_lines(module, path, export(image, module.index, path)))
