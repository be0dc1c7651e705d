"""`whocall export` in gdb: a symbol file for a colleague without whocall."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from whocall.core import loader
from whocall.core.errors import UsageError
from whocall.frontend.options import EXPORT, Parsed
from whocall.gdb.host import settings
from whocall.gdb.host.output import write
from whocall.gdb.target.executable import program_file
from whocall.gdb.target.inferior import current
from whocall.repair.export import export, export_lines
from whocall.repair.plan import module_named

if TYPE_CHECKING:
    from whocall.core.image import ProcessImage


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
    from whocall.core.image import open_file_image

    return open_file_image(program_file(), search=settings.search())


def run(line: str) -> None:
    """Writes names and all rules of a module to a file."""
    parsed = EXPORT.parse(line)
    path = exported_file(parsed)
    image = _image()
    module = module_named(image, parsed.values.get("module", ""))
    write(export_lines(module, path, export(image, module.index, path)))
