"""`whocall export` in gdb: a symbol file for a colleague without whocall."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from whocall import loader
from whocall.errors import UsageError
from whocall.export import export, export_lines
from whocall.gdb import parameters
from whocall.gdb.executable import program_file
from whocall.gdb.inferior import current
from whocall.gdb.output import write
from whocall.options import EXPORT, Parsed
from whocall.repair import module_named

if TYPE_CHECKING:
    from whocall.image import ProcessImage


def exported_file(parsed: Parsed) -> Path:
    """The file to write."""
    if not parsed.arguments:
        raise UsageError('"whocall export" needs the name of the file to write')
    return Path(parsed.arguments[0]).expanduser()


def _image() -> ProcessImage:
    """That of the process, or before it runs of the program's file."""
    if gdb.selected_thread() is not None:
        return current().image
    loader.load()
    from whocall.image import open_file_image

    return open_file_image(program_file(), search=parameters.search())


def run(line: str) -> None:
    """Writes names and all rules of a module to a file."""
    parsed = EXPORT.parse(line)
    path = exported_file(parsed)
    image = _image()
    module = module_named(image, parsed.values.get("module", ""))
    write(export_lines(module, path, export(image, module.index, path)))
