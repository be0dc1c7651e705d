"""The values that completion offers. Completion must never fail: without a native module or a
program there is nothing to offer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePath

import gdb

from whocall.errors import Error
from whocall.options import Chooser


def strategies() -> list[str]:
    """What may be switched off."""
    try:
        from whocall.engine import native
    except Error:
        return []
    return list(native.strategies())


def modules() -> list[str]:
    """File names of the loaded modules."""
    try:
        from whocall.gdb.inferior import current

        image = current().image
    except (Error, gdb.error):
        return []
    return sorted({PurePath(module.path).name for module in image.modules if module.path})


def files(start: str) -> list[str]:
    """Paths that begin with `start`; directories end in a slash."""
    folder, slash, name = start.rpartition("/")
    try:
        with os.scandir(Path(folder + slash or ".").expanduser()) as entries:
            found = [(entry.name, entry.is_dir()) for entry in entries]
    except (OSError, RuntimeError):  # RuntimeError: ~ of a user that there is not
        return []
    return sorted(
        folder + slash + entry + "/" * is_folder
        for entry, is_folder in found
        if entry.startswith(name) and (name or not entry.startswith("."))
    )


CHOOSERS: Mapping[str, Chooser] = {"without": strategies, "module": modules}
